import KalijStore

/// The stored state of push of an account.
package struct PushRow {
    var state: PushState
    /// The number of requests sent. Only the response to the latest one counts.
    var requestCount: Int64
    /// When the server has confirmed the registration, in milliseconds since 1970; nil if it has not.
    var confirmedAt: Int64?
    /// The reason why push is unavailable, as a text.
    var problem: String?
    /// The intent that ends with the server's response.
    var intent: String?

    /// Whether the server has confirmed the registration in the present session.
    package var isEnabled: Bool { state.stage == .enabled }

    init() { (state, requestCount) = (PushState(), 0) }

    private init(_ row: Row) {
        state = PushState(
            PushState.Stage(rawValue: row.text("stage")) ?? .off,
            wanted: Self.target(
                row.optionalText("wanted_service"), row.optionalText("wanted_node"), row.optionalText("wanted_module"),
                row.optionalText("wanted_key")),
            known: Self.target(
                row.optionalText("known_service"), row.optionalText("known_node"), row.optionalText("known_module"),
                row.optionalText("known_key")),
            attempts: Int(row.integer("attempts")))
        (requestCount, confirmedAt) = (row.integer("asked"), row.optionalInteger("confirmed_at"))
        (problem, intent) = (row.optionalText("problem"), row.optionalText("intent"))
    }

    private static func target(_ service: String?, _ node: String?, _ module: String?, _ secret: String?) -> PushTarget?
    {
        guard let service, let node else { return nil }
        return PushTarget(service: service, node: node, module: module, secret: secret)
    }

    /// Can be called outside of a step.
    package static func load(_ account: Int64, from database: Database) throws -> PushRow? {
        try database.statement(
            """
            SELECT stage, wanted_service, wanted_node, wanted_module, wanted_key, known_service, known_node, known_module,
                known_key, attempts, asked, confirmed_at, problem, intent FROM push WHERE account = ?
            """
        ).first([.integer(account)], PushRow.init)
    }

    func save(_ account: Int64, in database: Database) throws {
        try database.run(
            """
            INSERT OR REPLACE INTO push(account, stage, wanted_service, wanted_node, wanted_module, wanted_key, known_service,
                known_node, known_module, known_key, attempts, asked, confirmed_at, problem, intent)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [.integer(account), .state(state.stage)] + Self.values(state.wanted) + Self.values(state.known) + [
                .integer(Int64(state.attempts)), .integer(requestCount), .optional(confirmedAt), .optional(problem),
                .optional(intent),
            ])
    }

    private static func values(_ target: PushTarget?) -> [Value] {
        [.optional(target?.service), .optional(target?.node), .optional(target?.module), .optional(target?.secret)]
    }
}
