import KalijSteps
import KalijAddress
import KalijStore
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Accepts messages from the user. Once ``accept(_:to:of:in:clock:id:)`` returns, a message is sent exactly once,
/// whatever happens to this process. If a session is lost and no archive can tell, the message is reported as of
/// unknown outcome.
public enum Outgoing {
    /// The largest accepted stanza, in bytes.
    package static let largestStanza = OutboundQueue.usuallyTaken

    /// Stores a chat message and queues it.
    /// - Parameters:
    ///   - database: a connection that syncs (`Database.Durability.machine`).
    ///   - clock: the source of time.
    ///   - account: the sender.
    ///   - body: the text.
    ///   - recipient: the receiver.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil for a new id. A message accepted before under this
    ///     id is returned unchanged, and not sent again.
    /// - Returns: the message in the state `queued`, or the message accepted before under the id.
    /// - Throws: `AcceptError` for a text that cannot be sent, `StoreError`. Then nothing was accepted.
    public static func accept(
        _ body: String, to recipient: JID, of account: Account, in database: Database, clock: Clock = .system,
        id: String? = nil
    ) throws -> Message {
        try accept(body, to: recipient, of: account, in: database, clock: clock, id: id, features: .passive)
    }

    /// - Parameter features: passive ones, which have their turn in the message.
    package static func accept(
        _ body: String, to recipient: JID, of account: Account, in database: Database, clock: Clock, id: String?,
        features: Features
    ) throws -> Message {
        let text = try OutgoingText(body, to: recipient, id: id)
        return try Step.accept(for: account, in: database, clock: clock, features: features) { step in
            if id != nil, let known = try Message.accepted(text.id, by: account, in: step.database) { return known }
            return try text.store(in: step, sentAt: step.now)
        }
    }
}

/// A chat message that can be sent, with its final id.
package struct OutgoingText {
    package let body: String
    /// A canonical address.
    package let recipient: JID
    package let id: String

    /// The longest id accepted from outside, in bytes.
    private static let longestID = 256

    /// - Parameter id: nil for a new one.
    /// - Throws: `AcceptError` for a text or an id that cannot be sent.
    package init(_ body: String, to recipient: JID, id given: String? = nil) throws(AcceptError) {
        let id = given ?? UUID().uuidString.lowercased()
        guard !id.isEmpty, id.utf8.count <= Self.longestID, id.unicodeScalars.allSatisfy(Self.mayBeInID) else {
            throw AcceptError.badID
        }
        guard !body.isEmpty else { throw AcceptError.empty }
        if let scalar = body.unicodeScalars.first(where: { !Self.isXML($0) }) {
            throw AcceptError.notXML(scalar.value)
        }
        let bytes = Self.stanza(body, to: recipient, id: id).bytes(in: "jabber:client").count
        guard bytes <= Outgoing.largestStanza else { throw AcceptError.tooLong(bytes) }
        self.body = body
        self.recipient = recipient
        self.id = id
    }

    /// Stores the message and queues it.
    package func store(in step: Step, sentAt: Int64) throws -> Message {
        let row = try insert(in: step, sentAt: sentAt)
        try queue(row, in: step)
        return message(of: step.account, row: row, sentAt: sentAt)
    }

    private func queue(_ row: Int64, in step: Step) throws {
        let stanza = Self.stanza(body, to: recipient, id: id)
        for feature in step.features.all { try feature.prepare(stanza, in: step) }
        try OutboundQueue(database: step.database, account: step.account.id)
            .append(stanza.bytes(in: "jabber:client"), message: row)
    }

    /// Stores the message, which was accepted before, queues it, and reports it; as failed if the server no longer
    /// takes stanzas of this size.
    @discardableResult
    func storeOrFail(in step: Step, sentAt: Int64) throws -> Message {
        let row = try insert(in: step, sentAt: sentAt)
        let message = message(of: step.account, row: row, sentAt: sentAt)
        do {
            try queue(row, in: step)
        } catch let error as StanzaTooLong {
            try Messages(step: step).fail(row, "\(error)")
            return try Message.load(row, from: step.database) ?? message
        }
        try Telling(step: step).tell(MessageStateChanged(message))
        return message
    }

    package func message(of account: Account, row: Int64, sentAt: Int64) -> Message {
        Message(
            id: row, direction: .outgoing, stanzaID: nil, originID: id, from: account.jid.description,
            to: recipient.description, type: "chat", body: body, sentAt: sentAt, state: .queued)
    }

    private static func stanza(_ body: String, to recipient: JID, id: String) -> Element {
        Element(
            "message", xmlns: "jabber:client", attributes: ["type": "chat", "to": recipient.description, "id": id],
            children: [
                Element("body", text: body), Element("origin-id", xmlns: "urn:xmpp:sid:0", attributes: ["id": id]),
            ])
    }

    private func insert(in step: Step, sentAt: Int64) throws -> Int64 {
        let account = step.account
        try step.database.run(
            """
            INSERT INTO message(account, direction, conversation, position, archive, message_id, origin_id, sender,
                recipient, type, body, sent_at, state)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'chat', ?, ?, ?)
            """,
            [
                .integer(account.id), .state(Direction.outgoing), .text(recipient.bare.description),
                .integer(try step.nextPosition()), .text(Archive.own.key), .text(id), .text(id),
                .text(account.jid.description), .text(recipient.description), .text(body), .integer(sentAt),
                .state(MessageState.queued),
            ])
        let row = step.database.lastInsertedRow
        try step.messageStored()
        return row
    }

    /// Servers and clients could change white space and controls on the way, so an id has none.
    private static func mayBeInID(_ scalar: Unicode.Scalar) -> Bool {
        isXML(scalar) && scalar.value > 0x20 && !(0x7F...0xA0).contains(scalar.value)
    }

    /// The characters allowed by XML 1.0 (section 2.2); any other character would end the stream.
    private static func isXML(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}

/// Why a message was not accepted.
public enum AcceptError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The message is empty.
    case empty
    /// The message holds the character with this code, which XML cannot carry.
    case notXML(UInt32)
    /// The message's stanza would have this many bytes.
    case tooLong(Int)
    /// The given id is not allowed.
    case badID

    public var description: String {
        switch self {
        case .empty: "the message is empty"
        case .notXML(let code): "the message holds the character U+\(Self.hex(code)), which XMPP cannot carry"
        case .badID: "an id has 1 to 256 bytes, and neither spaces nor control characters"
        case .tooLong(let bytes): "the message takes \(bytes) bytes, at most \(Outgoing.largestStanza) can be sent"
        }
    }

    private static func hex(_ code: UInt32) -> String {
        let digits = String(code, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
