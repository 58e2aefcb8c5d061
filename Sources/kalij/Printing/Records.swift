import KalijClient
import KalijText
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One JSON object a line, also for readers who know more ends of a line than LF.
enum JSONLine {
    static func of(_ value: some Encodable) throws -> PrintedText {
        PrintedText(json: String(decoding: try encoder().encode(value), as: UTF8.self))
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
    /// Of the event, if it is one.
    var number: Int64?

    private enum CodingKeys: String, CodingKey {
        case event, number, account, at, direction, id, from, to, type, body, state, error, settled
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
    static func of(_ message: Message) -> PrintedText {
        let other: PrintedText = message.direction == .incoming ? "from \(message.from)" : "to \(message.to)"
        var state: PrintedText = ""
        if let known = message.state { state = " [\(known.rawValue)\(message.isSettled ? "" : ", outcome unknown")]" }
        if let error = message.error { state += " (\(error))" }
        return "\(Stamp.of(message.sentAt)) \(other)\(state): \(message.body ?? "")"
    }
}

/// A gap in the history as `history` prints it.
struct GapRecord: Encodable {
    private let event = "gap"
    private let account: String
    private let room: String?
    private let after: String?
    private let before: String?
    private let reason: String
    private let problem: String?
    private let fillable: Bool

    private enum CodingKeys: String, CodingKey { case event, account, room, after, before, reason, problem, fillable }

    init(_ gap: HistoryGap, account: String) {
        self.account = account
        room = gap.room?.description
        after = gap.after.map(Stamp.of)
        before = gap.before.map(Stamp.of)
        fillable = gap.isFillable
        switch gap.reason {
        case .notFetched: (reason, problem) = ("not-fetched", nil)
        case .lost: (reason, problem) = ("lost", nil)
        case .reading: (reason, problem) = ("reading", nil)
        case .unread(let why): (reason, problem) = ("unread", why)
        }
    }

    /// For a person who reads a history.
    var line: PrintedText { "--- \(words)" }

    /// For a person.
    var words: PrintedText {
        let times = [after.map { "after \($0)" }, before.map { "before \($0)" }].compactMap { $0 }.joined(
            separator: ", ")
        let place: PrintedText = "\(room.map { " of \($0)" } ?? "")\(times.isEmpty ? "" : " " + times)"
        switch reason {
        case "lost": return "messages\(place) may be missing: the archive does not have them any more"
        case "reading": return "messages\(place): the archive is being read"
        case "unread": return "messages\(place) were not read from the archive: \(problem ?? "")"
        default:
            let how = after == nil ? "--older N" : "--fill"
            return "messages\(place) were not fetched from the archive; `kalij history \(how)` does it"
        }
    }
}
