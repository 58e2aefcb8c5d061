import KalijStore

extension Violation.Promise {
    /// Each event about a message has a number of its own.
    static let events = Violation.Promise("events numbered")
}

/// Events about messages: each received message is in exactly one event.
final class SimulatedEvents: SimulatedFeature {
    init(_ server: SimulatedServer) {}

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        try database.prepare(
            """
            SELECT m.body FROM message m LEFT JOIN event e ON e.message = m.id AND e.kind = 'message'
            WHERE m.received_at IS NOT NULL GROUP BY m.id HAVING count(e.number) <> 1
            """
        ).all { Violation(.events, "\($0.text()) is not in one event") }
    }
}
