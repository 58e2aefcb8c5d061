import KalijClient
import KalijText
import KalijXML

import FoundationEssentials

/// A JSON object on a line, also for readers with line ends other than LF.
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
    /// The text of a time, with milliseconds if there are any.
    static func of(_ milliseconds: Int64) -> String {
        DateTime.text(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
    }
}

/// A gap in the history, as printed by `history`.
struct GapRecord: Encodable {
    private let event = "gap"
    private let account: String
    private let room: String?
    private let after: String?
    private let before: String?
    private let times: (after: Int64?, before: Int64?)
    private let reason: String
    private let problem: String?
    private let fillable: Bool

    private enum CodingKeys: String, CodingKey { case event, account, room, after, before, reason, problem, fillable }

    init(_ gap: HistoryGap, account: String) {
        self.account = account
        room = gap.room?.description
        after = gap.after.map(Stamp.of)
        before = gap.before.map(Stamp.of)
        times = (gap.after, gap.before)
        fillable = gap.isFillable
        switch gap.reason {
        case .notFetched: (reason, problem) = ("not-fetched", nil)
        case .lost: (reason, problem) = ("lost", nil)
        case .reading: (reason, problem) = ("reading", nil)
        case .unread(let why): (reason, problem) = ("unread", why)
        }
    }

    /// The line for people, in a history.
    func line(_ clock: WallClock) -> PrintedText { "--- \(text(clock))" }

    /// The text for people.
    func text(_ clock: WallClock) -> PrintedText {
        let moments = (after: times.after.map(clock.moment), before: times.before.map(clock.moment))
        let times = [moments.after.map { "after \($0)" }, moments.before.map { "before \($0)" }]
            .compactMap { $0 }.joined(separator: ", ")
        let place: PrintedText = "\(room.map { " of \($0)" } ?? "")\(times.isEmpty ? "" : " " + times)"
        switch reason {
        case "lost": return "messages\(place) may be missing: no longer in the archive"
        case "reading": return "messages\(place): the archive is being read"
        case "unread": return "messages\(place) were not read from the archive: \(problem ?? "")"
        default:
            let how = after == nil ? "--older N" : "--fill"
            return "messages\(place) were not fetched from the archive; `kalij history \(how)` fetches them"
        }
    }
}
