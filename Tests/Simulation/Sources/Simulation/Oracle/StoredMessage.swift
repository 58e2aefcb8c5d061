import KalijStore

/// A message in the client's database.
struct StoredMessage {
    /// The sender's id.
    let id: String
    /// The text as it was written, even if it was corrected or retracted since; nil if the message is no text of the record's.
    let body: String?
    let direction: String
    let state: String?
    let isUnsettled: Bool
    let recipient: String

    /// All messages, in the order of the history.
    /// - Parameter server: has the record of the texts.
    static func all(in database: Database, _ server: SimulatedServer) throws -> [StoredMessage] {
        var written: [String: String] = [:]
        for message in server.archive.messages { written[message.messageID] = message.body }
        return try database.prepare(
            """
            SELECT m.message_id, m.direction, m.state, m.settled, m.recipient, m.corrects,
                coalesce(o.body, m.body) AS body FROM message m LEFT JOIN original o ON o.message = m.id
            WHERE m.conversation <> '\(SimulatedMUC.address)' ORDER BY m.position, m.id
            """
        ).all { row in
            let id = row.text("message_id")
            // A correction of an unknown message is in the record, without a text of its own.
            let isCorrection = row.optionalText("corrects") != nil
            return StoredMessage(
                id: id, body: written[id] ?? (isCorrection ? nil : row.optionalText("body") ?? accepted(id)),
                direction: row.text("direction"), state: row.optionalText("state"),
                isUnsettled: !row.bool("settled"), recipient: row.text("recipient"))
        }
    }

    /// The text of a message accepted here under an id of its own: the id says the text.
    private static func accepted(_ id: String) -> String? { id.hasPrefix("out-") ? id : nil }
}
