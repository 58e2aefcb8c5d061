import KalijAddress
import KalijSteps
import KalijStore
import KalijXML

/// Delivery receipts (XEP-0184): asked for with each chat message, and given to those who may know that the account is online.
enum ReceiptsFeature: Feature {
    static let name = "receipts"
    static let namespace = "urn:xmpp:receipts"
    static let announced = [namespace]
    static let migrations = [
        Migration(
            "receipts/1",
            """
            -- Which of the account's messages were delivered.
            CREATE TABLE receipt(
                message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
                at INTEGER NOT NULL);
            """)
    ]
    static var events: [any EventContent.Type] { [MessageDelivered.self] }

    static func event(_ kind: String, of message: Message) -> (any MessageEvent)? {
        kind == MessageDelivered.name ? MessageDelivered(message) : nil
    }

    static func prepare(_ message: Element, in step: Step) { message.add(Element("request", xmlns: namespace)) }

    /// Nobody repeats a receipt that is lost with a session.
    static func outlivesSession(_ stanza: Element) -> Bool { stanza.child("received", namespace) != nil }

    /// A receipt has come, perhaps not for the first time.
    static func arrived(_ message: inout IncomingMessage, in step: Step) throws {
        guard message.direction == .incoming, let id = message.element.child("received", namespace)?["id"] else { return }
        message.isKept = message.body != nil
        try Receipts(step: step).came(for: id, from: message.conversation)
    }

    static func stored(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        guard incoming.element.child("request", namespace) != nil else { return }
        try Receipts(step: step).give(for: incoming)
    }
}
