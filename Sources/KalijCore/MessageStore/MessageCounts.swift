import KalijStore

/// The number of an account's shown messages in each state without a confirmed delivery.
package struct MessageCounts {
    package private(set) var (queued, sent, unsettled, failed) = (0, 0, 0, 0)

    package init(of account: Int64, in database: Database) throws {
        try database.prepare(
            """
            SELECT state, settled, count(*) AS number FROM message
            WHERE account = ? AND direction = 'out' AND (state = 'queued' OR state = 'sent' OR state = 'failed') AND shown = 1
            GROUP BY state, settled
            """
        ).each([.integer(account)]) { row in
            let count = Int(row.integer("number"))
            switch MessageState(rawValue: row.text("state")) {
            case .queued: queued += count
            case .sent:
                sent += count
                if !row.bool("settled") { unsettled += count }
            case .failed: failed += count
            case .acked, .delivered, .displayed, nil: break
            }
        }
    }
}
