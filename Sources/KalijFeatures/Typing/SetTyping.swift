import KalijAddress
import KalijCore
import KalijXML

/// Sends the user's state in the chat to a contact (XEP-0085); for a process that drives. An application must not send the same state
/// twice in a row (section 5.3).
///
/// The state is sent only if the contact uses states, and may learn that the account is online. A lost session discards it.
public struct SetTyping: Intent {
    public static let name = "typing"
    public static let isIdempotent = true
    /// The bare address of the contact.
    public let conversation: String
    /// The state of the user; nil is `composing`.
    public let state: ChatState?

    /// - Parameters:
    ///   - state: the state of the user.
    ///   - conversation: the contact.
    public init(_ state: ChatState, to conversation: JID) {
        (self.state, self.conversation) = (state, conversation.bare.description)
    }

    public func check() throws { _ = try JID(conversation) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let contact = try JID(conversation).bare
        let partners = ChatStateSupport(step: step)
        guard try partners.supports(contact) ?? false, try partners.allowsStates(contact) else { return .done }
        let content = Element((state ?? .composing).rawValue, xmlns: TypingFeature.namespace)
        // The state alone (section 5.5).
        try step.send(
            Element(
                "message", xmlns: "jabber:client", attributes: ["to": contact.description, "type": "chat"],
                children: [content]))
        return .done
    }
}
