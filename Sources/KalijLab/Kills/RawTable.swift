import FoundationEssentials

/// A row of the table `message`, as shown by the sqlite3 shell.
public struct StoredMessage: Codable, Sendable, Equatable {
    public let id: Int
    public let direction: String
    public let position: Int
    public let stanzaID: String?
    public let originID: String?
    public let sender: String?
    public let body: String?
    public let state: String?

    enum CodingKeys: String, CodingKey {
        case id, direction, position, sender, body, state
        case stanzaID = "stanza_id"
        case originID = "origin_id"
    }
}

/// Reads Kalij's database with the sqlite3 shell, read-only: without a line of Kalij's own reading code.
public struct RawTable: Sendable {
    let laboratory: Laboratory
    let database: String

    /// A database in a data directory.
    public init(laboratory: Laboratory, data: String) {
        self.laboratory = laboratory
        database = data + "/kalij.db"
    }

    /// The messages of a direction (`in` or `out`) by position.
    public func messages(_ direction: String) async throws -> [StoredMessage] {
        let text = try await query(
            """
            SELECT id, direction, position, stanza_id, origin_id, sender, body, state FROM message
            WHERE direction = '\(direction)' ORDER BY position, id
            """, json: true)
        guard !text.isEmpty else { return [] }
        return try JSONDecoder().decode([StoredMessage].self, from: Data(text.utf8))
    }

    /// The texts of outgoing messages with an unknown outcome.
    public func unknown() async throws -> Set<String> {
        let text = try await query(
            "SELECT body FROM message WHERE direction = 'out' AND state = 'sent' AND settled = 0")
        return Set(text.split(separator: "\n").map(String.init))
    }

    /// How many stanzas wait to be sent or acknowledged.
    public func queued() async throws -> Int {
        try await number("SELECT count(*) FROM queue")
    }

    /// A number that changes with every received, sent or acknowledged message.
    func progress() async throws -> Int {
        try await number(
            """
            SELECT (SELECT handled + acknowledged FROM session) + (SELECT count(*) FROM message WHERE state = 'acked')
            """)
    }

    /// How many messages have left and are not acknowledged.
    func unacknowledged() async throws -> Int {
        try await number("SELECT count(*) FROM queue JOIN message ON message.id = queue.message WHERE state = 'sent'")
    }

    /// The number of messages of each direction, and of outgoing messages that the server has not acknowledged.
    func counts() async throws -> (received: Int, sent: Int, unsettled: Int) {
        let text = try await query(
            """
            SELECT count(*) FILTER (WHERE direction = 'in'), count(*) FILTER (WHERE direction = 'out'),
              count(*) FILTER (WHERE direction = 'out' AND state IN ('queued', 'sent') AND settled = 1) FROM message
            """)
        let numbers = text.split(whereSeparator: { $0 == "|" || $0 == "\n" }).compactMap { Int($0) }
        guard numbers.count == 3 else { throw LaboratoryError("sqlite3 answered: \(text)") }
        return (numbers[0], numbers[1], numbers[2])
    }

    private func number(_ sql: String) async throws -> Int {
        let text = try await query(sql)
        guard let number = Int(text.prefix { $0 != "\n" }) else { throw LaboratoryError("sqlite3 answered: \(text)") }
        return number
    }

    /// Runs SQL in the shell. A database in use is waited for.
    func query(_ sql: String, json: Bool = false) async throws -> String {
        try await laboratory.run(
            try Tool.sqlite.path(),
            ["-batch", "-readonly", json ? "-json" : "-list", "-cmd", ".timeout 10000", database, sql])
    }
}
