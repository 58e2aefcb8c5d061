import KalijStore

@testable import KalijFeatures

extension Violation.Promise {
    /// A text that the user sends again leaves once more, under its id, and keeps its row and its place.
    static let resending = Violation.Promise("sent again")
}

/// Texts that the user sends again: no part of the server.
final class SimulatedResending: SimulatedFeature {
    unowned let server: SimulatedServer
    /// By the id of the intent.
    private var requests: [String: Request] = [:]

    private struct Request {
        let body: String
        let originID: String
        let isAccepted: Bool
    }

    init(_ server: SimulatedServer) { self.server = server }

    static func actions(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        ResendAction.all(seed: seed, beside: actions, length: length)
    }

    func requested(_ id: String, _ text: SimulatedMessages.Taken, isAccepted: Bool) {
        requests[id] = Request(body: text.body, originID: text.originID, isAccepted: isAccepted)
    }

    /// How often each text may have left besides the first time.
    func repetitions(in database: Database) throws -> [String: Int] {
        try outcomes(in: database).reduce(into: [:]) { repetitions, outcome in
            guard outcome.value == "", let request = requests[outcome.key] else { return }
            repetitions[request.body, default: 0] += 1
        }
    }

    private func outcomes(in database: Database) throws -> [String: String?] {
        Dictionary(
            try database.prepare("SELECT id, problem FROM intent").all { ($0.text("id"), $0.optionalText("problem")) }
        ) { first, _ in first }
    }

    private func isRefused(_ request: Request) -> Bool {
        server.taken.contains { $0.originID == request.originID && $0.isRefused }
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        let outcomes = try outcomes(in: database)
        let repetitions = try repetitions(in: database)
        var texts = requests.sorted { $0.key < $1.key }.compactMap { id, request -> String? in
            guard let outcome = outcomes[id] else {
                return request.isAccepted ? "\(id) was accepted and never performed" : nil
            }
            return outcome == nil ? "\(id) has no outcome" : nil
        }
        for request in requests.values.sorted(by: { $0.body < $1.body }) {
            let rows = try database.prepare("SELECT state, settled FROM message WHERE message_id = ?")
                .all([.text(request.originID)]) { (state: $0.optionalText("state"), isSettled: $0.bool("settled")) }
            if rows.count != 1 { texts.append("\(request.body) has \(rows.count) rows") }
            // With every session resumed, no outcome is unknown; and a server on the way may have sent a text back.
            let mayFail = server.begun > 1 || server.messages.returned.contains(request.originID)
            if !mayFail, !isRefused(request), repetitions[request.body] != nil {
                texts.append("\(request.body) was sent again, and had not failed")
            }
            // Every copy is refused, unless the answer is lost with a session.
            let count = server.taken.count { $0.originID == request.originID }
            guard server.begun == 1, isRefused(request) else { continue }
            let expected = 1 + (repetitions[request.body] ?? 0)
            if count != expected { texts.append("\(request.body) was sent \(count) times, not \(expected) times") }
        }
        return texts.map { Violation(.resending, $0) }
    }
}
