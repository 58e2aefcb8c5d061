import KalijAddress
import KalijCore
import KalijText

/// The state of a participant in a chat (XEP-0085 section 2).
public enum ChatState: String, Sendable, CaseIterable, Codable {
    /// Attentive, writing, writing suspended, inattentive, has left.
    case active, composing, paused, inactive, gone
}

extension EventKey {
    /// The state of a contact in a chat, as in ``ChatState``.
    public static let chatState = EventKey(
        "chat_state", "`active`, `composing`, `paused`, `inactive` or `gone` (XEP-0085)")
}

/// A contact has sent its state in the chat (XEP-0085). Possibly no further state follows, even after `composing`.
public struct Typing: EventContent {
    public static let name = "typing"
    public static let meaning = "A contact tells its state in the chat (XEP-0085). Not stored."
    public static let keys: [EventKey] = [.conversation, .from, .chatState]
    /// The contact's client.
    public let sender: JID
    /// The state of the contact.
    public let state: ChatState
    public var fields: [EventField] {
        [
            .init(.conversation, .text(sender.bare.description)), .init(.from, .text(sender.description)),
            .init(.chatState, .text(state.rawValue)),
        ]
    }
    public var changed: DirectoryChange.Part? { .init(.typing, sender.bare.description, value: state.rawValue) }
    public var line: PrintedText? { "\(sender) is \(state.rawValue)" }
    public var isDetail: Bool { true }

    package init(_ state: ChatState, from sender: JID) { (self.state, self.sender) = (state, sender) }
}
