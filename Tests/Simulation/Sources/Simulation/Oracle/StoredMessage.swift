import KalijStore

/// A message as the client has stored it.
struct StoredMessage {
    let body: String?
    let direction: String
    let state: String?
    let isUnsettled: Bool
    let recipient: String

    /// All, in the order in which they are shown.
    static func all(in database: Database) throws -> [StoredMessage] {
        try database.prepare("SELECT body, direction, state, settled, recipient FROM message ORDER BY position, id")
            .all { row in
                StoredMessage(
                    body: row.optionalText("body"), direction: row.text("direction"), state: row.optionalText("state"),
                    isUnsettled: !row.bool("settled"), recipient: row.text("recipient"))
            }
    }
}
