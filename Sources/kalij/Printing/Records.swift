import KalijClient
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One JSON object a line.
enum JSONLine {
    static func of(_ value: some Encodable) throws -> String {
        String(decoding: try encoder().encode(value), as: UTF8.self)
    }

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

/// XEP-0082 date-times in UTC.
enum Stamp {
    /// With the milliseconds, if there are any.
    static func of(_ milliseconds: Int64) -> String {
        DateTime.text(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
    }
}

/// A message as `run --json` and `history --json` print it.
struct MessageRecord: Encodable {
    var event = "message"
    let account: String
    let at: String
    let direction: String
    let id: Int64
    let stanzaID: String?
    let originID: String?
    let from: String
    let to: String
    let type: String
    let body: String?
    let sentAt: String
    let state: String?
    let error: String?
    let settled: Bool?

    private enum CodingKeys: String, CodingKey {
        case event, account, at, direction, id, from, to, type, body, state, error, settled
        case stanzaID = "stanza_id"
        case originID = "origin_id"
        case sentAt = "sent_at"
    }

    init(_ message: Message, event: String = "message", account: String, at: Int64) {
        self.event = event
        self.account = account
        self.at = Stamp.of(at)
        direction = message.direction.rawValue
        id = message.id
        stanzaID = message.stanzaID
        originID = message.originID
        from = message.from
        to = message.to
        type = message.type
        body = message.body
        sentAt = Stamp.of(message.sentAt)
        state = message.state?.rawValue
        error = message.error
        settled = message.isSettled ? nil : false
    }
}

/// A message as a line for a person.
enum MessageLine {
    static func of(_ message: Message) -> String {
        let other = message.direction == .incoming ? "from \(message.from)" : "to \(message.to)"
        var state = ""
        if let known = message.state { state = " [\(known.rawValue)\(message.isSettled ? "" : ", outcome unknown")]" }
        if let error = message.error { state += " (\(error))" }
        return "\(Stamp.of(message.sentAt)) \(other)\(state): \(message.body ?? "")"
    }
}
