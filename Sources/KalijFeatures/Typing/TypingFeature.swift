import KalijCore
import KalijStore
import KalijXML

/// Chat states (XEP-0085): states of contacts are emitted as events; states of the user are sent to contacts that use them.
enum TypingFeature: Feature, MessageProcessor, StoredMessageObserver, OutgoingMessageDecorator {
    static let name = "typing"
    static let namespace = "http://jabber.org/protocol/chatstates"
    static let announced = [namespace]
    static let migrations = [
        Migration(
            "typing/1",
            """
            -- Whether the last message of a contact (a bare address) had a state: no state itself is stored.
            CREATE TABLE chat_partner(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                contact TEXT NOT NULL, supports INTEGER NOT NULL, PRIMARY KEY (account, contact)) WITHOUT ROWID;
            """)
    ]
    static var events: [any EventContent.Type] { [Typing.self] }
    static var intents: [any Intent.Type] { [SetTyping.self] }

    /// States in rooms and delayed states are ignored. A stanza that has only a state is not stored as a message.
    static func process(_ message: inout IncomingMessage, in step: Step) throws {
        let element = message.element
        guard element.child(in: namespace) != nil else { return }
        if !message.isShown, element.children.allSatisfy(isNoContent) { message.isKept = false }
        guard message.type == "chat", message.direction == .incoming, message.source != .archive,
            element.child("delay", "urn:xmpp:delay") == nil, let state = state(in: element)
        else { return }
        step.emit(Typing(state, from: message.sender))
        if !message.isShown { try ChatStateSupport(step: step).answered(message, supports: true) }
    }

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        guard incoming.direction == .incoming, incoming.type == "chat", incoming.isShown, !incoming.isOlder else {
            return
        }
        try ChatStateSupport(step: step).answered(incoming, supports: state(in: incoming.element) != nil)
    }

    static func decorate(_ message: Element, in step: Step) throws {
        guard let to = message["to"], try ChatStateSupport(step: step).includesActive(.received(to)) else { return }
        message.add(Element(ChatState.active.rawValue, xmlns: namespace))
    }

    /// The state, of which there is at most one (section 5.5).
    private static func state(in message: Element) -> ChatState? {
        // Most messages have one or none.
        guard let state = message.child(in: namespace) else { return nil }
        return message.children(nil, namespace).count == 1 ? ChatState(rawValue: state.name) : nil
    }

    private static let metadata = [namespace, "urn:xmpp:hints", "urn:xmpp:sid:0", "urn:xmpp:delay"]

    /// Whether `child` is only the state, the thread, or delivery metadata; an empty text counts as none.
    private static func isNoContent(_ child: Element) -> Bool {
        metadata.contains(where: child.isIn)
            || child.isNamed("thread", "jabber:client")
            || child.isNamed("body", "jabber:client") && child.text.isEmpty
    }
}
