import KalijStore
import KalijXML

/// Questions to a contact. A question says after how many milliseconds the contact answers; otherwise there is no answer.
final class SimulatedCallbacks: SimulatedFeature {
    unowned let server: SimulatedServer

    init(_ server: SimulatedServer) { self.server = server }

    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool {
        guard let payload = request.child("query", "urn:x-simulated") else { return false }
        guard let delay = payload["answer"].flatMap({ Int64($0) }) else { return true }
        let answer = """
            <iq type='result' id='\(request["id"] ?? "")' from='\(recipient)' to='\(server.address(session))'/>
            """
        let resource = session.resource
        server.world.after(delay * 1000) { [weak server] in server?.route(answer, to: resource) }
        return true
    }

    /// Promise 3: each callback is called or invalidated, once.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        var violations: [Violation] = []
        let calls = try database.prepare(
            "SELECT number, count(*) AS count, group_concat(outcome) AS outcomes FROM simulated_call GROUP BY number"
        ).all { row in
            (number: Int(row.integer("number")), count: Int(row.integer("count")), outcomes: row.text("outcomes"))
        }
        // A callback that was perhaps accepted is called once, or not at all.
        for call in calls where call.count > 1 && !simulation.record.waiting.contains(call.number) {
            violations.append(
                Violation(.promise3, "callback \(call.number) was called \(call.count) times: \(call.outcomes)"))
        }
        for number in simulation.record.waiting.sorted() {
            let (times, outcomes) = calls.first { $0.number == number }.map { ($0.count, $0.outcomes) } ?? (0, "")
            guard times != 1 else { continue }
            violations.append(Violation(.promise3, "callback \(number) was called \(times) times: \(outcomes)"))
        }
        return violations
    }
}
