import KalijSteps
import KalijAddress
import KalijStore
import KalijXML

import FoundationEssentials

/// A chat message that can be sent, with its final id.
package struct OutgoingText {
    package let body: String
    /// A canonical address.
    package let recipient: JID
    package let id: String
    /// Whether the message may have been accepted before: its id comes from outside.
    private let isRepeatable: Bool

    /// The longest id accepted from outside, in bytes.
    private static let longestID = 256

    /// - Parameter id: nil for a new id.
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
        isRepeatable = given != nil
    }

    /// Stores and queues the message, unless a message was accepted under the same id before.
    package func accept(in step: Step) throws -> Message {
        try known(in: step) ?? store(in: step, sentAt: step.now)
    }

    /// The message accepted before under the same id; nil if there is none.
    func known(in step: Step) throws -> Message? {
        isRepeatable ? try Message.accepted(id, by: step.account, in: step.database) : nil
    }

    /// Stores and queues the message.
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

    /// Stores, queues and reports a message that was accepted before. The message fails if the server no longer takes stanzas of
    /// its size.
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
