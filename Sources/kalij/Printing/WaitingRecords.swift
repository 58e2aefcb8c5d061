import KalijClient
import KalijText

/// A pending handler, as printed by `pending`.
struct PendingRecord: Encodable {
    let origin: String
    let account: String
    let handler: String
    let id: String
    let responder: String?
    let since: String?
    let until: String

    init(_ pending: PendingReader.Pending) {
        origin = pending.origin.rawValue
        account = pending.account
        handler = pending.handler
        id = pending.id
        responder = pending.responder
        since = pending.since.map(Stamp.of)
        until = Stamp.of(pending.until)
    }

    /// The text for people.
    var line: PrintedText {
        switch origin {
        case "request": "\(account): \(handler) waits until \(until) for the answer of \(responder ?? account)"
        case "timer": "\(account): \(handler) is called at \(until)"
        default: "\(account): \(handler) waits for promise \(id)"
        }
    }
}

/// A request, as printed by `iq`, `ping` and `pending --results`.
struct QuestionRecord: Encodable {
    let id: Int64
    let account: String
    let to: String
    let askedAt: String
    let answeredAt: String?
    let outcome: String?
    let reason: String?
    let answer: String?
    let roundTrip: Int64?

    private enum CodingKeys: String, CodingKey {
        case id, account, to, outcome, reason, answer
        case askedAt = "asked_at"
        case answeredAt = "answered_at"
        case roundTrip = "round_trip_ms"
    }

    init(_ question: AdHocRequests.Question) {
        id = question.id
        account = question.account
        to = question.recipient
        askedAt = Stamp.of(question.askedAt)
        answeredAt = question.answeredAt.map(Stamp.of)
        outcome = question.outcome
        reason = question.reason
        answer = question.answer
        roundTrip = question.roundTrip
    }

    /// The text for people.
    var line: PrintedText {
        let what = answer.map { PrintedText(xml: $0) } ?? "\(reason ?? "")"
        return "\(id) \(answeredAt ?? askedAt) \(to) [\(outcome ?? "waiting")] \(what)"
    }
}
