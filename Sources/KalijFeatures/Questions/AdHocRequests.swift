import KalijCore
import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML

/// Requests of a person, and their outcomes: `kalij iq`, `kalij ping`, `kalij disco`, `kalij pending`.
public struct AdHocRequests {
    private let database: Database

    /// Uses the requests in `database`.
    public init(_ database: Database) { self.database = database }

    /// A request and its outcome.
    public struct Question: Sendable {
        /// The row.
        public let id: Int64
        /// The account's bare address.
        public let account: String
        /// The address that the request was sent to.
        public let recipient: String
        /// Milliseconds since 1970.
        public let askedAt: Int64
        /// When the outcome was stored; nil while the request is pending.
        public let answeredAt: Int64?
        /// Milliseconds from the last sending of the request to the response; nil without a response.
        public let roundTrip: Int64?
        /// `result`, `error`, `timeout` or `invalidated`; nil while the request is pending.
        public let outcome: String?
        /// The error or the reason of the invalidation.
        public let reason: String?
        /// The response's XML.
        public let answer: String?
    }

    /// Accepts a request: it will be sent and its outcome stored, whatever happens to this process.
    /// - Parameters:
    ///   - request: an `<iq/>` of type get or set with its recipient.
    ///   - clock: the source of time.
    ///   - duration: the timeout for the response.
    ///   - account: the sender.
    /// - Returns: the request's number.
    /// - Throws: `RequestError`, `JIDError`, `StoreError`; then nothing was accepted.
    public func ask(
        _ request: Element, of account: Account, clock: Clock = .system, within duration: Duration
    ) throws -> Int64 {
        let bytes = request.bytes(in: "jabber:client").count
        guard bytes <= OutboundQueue.defaultStanzaLimit else { throw RequestError.tooLong(bytes) }
        return try Step.accept(for: account, in: database, clock: clock) { step in
            try database.run(
                "INSERT INTO question(account, request, recipient, asked_at) VALUES (?, '', ?, ?)",
                [.integer(account.id), .text(request["to"] ?? account.jid.description), .integer(step.now)])
            let id = database.lastInsertedRow
            let request = try step.send(request, then: AdHocResponse(question: id), within: duration)
            try database.run("UPDATE question SET request = ? WHERE id = ?", [.text(request), .integer(id)])
            try forgetOld(account)
            return id
        }
    }

    private func forgetOld(_ account: Account) throws {
        try database.run(
            """
            DELETE FROM question WHERE account = ?1 AND outcome IS NOT NULL
                AND id <= (SELECT max(id) FROM question WHERE account = ?1) - ?2
            """, [.integer(account.id), .integer(EngineLimits.keptRows)])
    }

    private static let columns = """
        id, account, recipient, asked_at, answered_at, outcome, reason, answer, round_trip FROM question
        """

    /// The request `id`; nil if there is none.
    public func question(_ id: Int64) throws -> Question? {
        let addresses = try AccountTable(database).addresses()
        return try database.prepare("SELECT \(Self.columns) WHERE id = ?")
            .first([.integer(id)]) { Question($0, addresses) }
    }

    /// The requests with an outcome, in the order of the outcomes.
    public func answered() throws -> [Question] {
        let addresses = try AccountTable(database).addresses()
        return try database.prepare("SELECT \(Self.columns) WHERE outcome IS NOT NULL ORDER BY answered_at, id")
            .all { Question($0, addresses) }
    }
}

extension AdHocRequests.Question {
    fileprivate init(_ row: Row, _ addresses: [Int64: String]) {
        self.init(
            id: row.integer("id"), account: addresses[row.integer("account")] ?? "", recipient: row.text("recipient"),
            askedAt: row.integer("asked_at"),
            answeredAt: row.optionalInteger("answered_at"), roundTrip: row.optionalInteger("round_trip"),
            outcome: row.optionalText("outcome"),
            reason: row.optionalText("reason"),
            answer: row.optionalBlob("answer").map { String(decoding: $0, as: UTF8.self) })
    }
}

/// Stores the outcome of a request.
struct AdHocResponse: InvalidatableHandler {
    package static let name = "question.answered"
    package let question: Int64

    func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result(let iq): try store("result", nil, iq, in: step)
        case .error(let error, let iq): try store("error", error.description, iq, in: step)
        case .timeout:
            let reason =
                step.roundTrip == nil
                ? "it was not sent: your server was not reached in time" : "nobody answered in time"
            try store("timeout", reason, nil, in: step)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try store("invalidated", reason.description, nil, in: step)
    }

    fileprivate func store(_ outcome: String, _ reason: String?, _ answer: Element?, in step: Step) throws {
        try step.database.run(
            "UPDATE question SET outcome = ?, reason = ?, answer = ?, answered_at = ?, round_trip = ? WHERE id = ?",
            [
                .text(outcome), .optional(reason), .optional(answer?.bytes(in: "jabber:client")), .integer(step.now),
                .optional(answer.flatMap { _ in step.roundTrip }), .integer(question),
            ])
    }
}
