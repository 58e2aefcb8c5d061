import KalijStore

/// A message in the client's database.
struct StoredMessage {
    let body: String?
    let direction: String
    let state: String?
    let isUnsettled: Bool
    let recipient: String

    /// All messages, in the order of the history.
    static func all(in database: Database) throws -> [StoredMessage] {
        try database.prepare("SELECT body, direction, state, settled, recipient FROM message ORDER BY position, id")
            .all { row in
                StoredMessage(
                    body: row.optionalText("body"), direction: row.text("direction"), state: row.optionalText("state"),
                    isUnsettled: !row.bool("settled"), recipient: row.text("recipient"))
            }
    }
}
