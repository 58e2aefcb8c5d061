import KalijStore

extension Violation.Promise {
    /// Each event about a message has a number of its own.
    static let events = Violation.Promise("events numbered")
}

/// Events about messages: each received message is in exactly one event.
final class SimulatedEvents: SimulatedFeature {
    unowned let server: SimulatedServer

    init(_ server: SimulatedServer) { self.server = server }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        let rows = try database.prepare(
            """
            SELECT m.message_id, count(e.number) AS count FROM message m
            LEFT JOIN event e ON e.message = m.id AND e.kind = 'message'
            WHERE m.received_at IS NOT NULL GROUP BY m.id HAVING count(e.number) <> 1
            """
        ).all { (id: $0.text("message_id"), count: Int($0.integer("count"))) }
        let texts = Dictionary(
            server.archive.messages.lazy.filter { $0.body != nil }.map { ($0.messageID, $0) }
        ) { first, _ in first }
        let model = server.feature(SimulatedOperations.self).model
        return rows.compactMap { row in
            // Nobody is told of a message that was retracted before it came.
            guard let text = texts[row.id], row.count > 0 || !model.shown(text).isRetracted else { return nil }
            return Violation(.events, "\(text.text) is in \(row.count) events")
        }
    }
}
