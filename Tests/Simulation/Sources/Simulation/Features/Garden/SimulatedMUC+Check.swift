import KalijStore

extension Violation.Promise {
    /// What is said in a room has arrived once, in order; what others say there is stored once.
    static let garden = Violation.Promise("garden")
}

extension SimulatedMUC {
    private struct Row {
        let body: String
        let isOwn: Bool
        let state: String
        let isUnsettled: Bool
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        guard simulation.plan.hasGarden else { return [] }
        let rows = try database.prepare(
            """
            SELECT coalesce(body, '') AS body, direction = 'out' AS own, coalesce(state, '') AS state, settled FROM message
            WHERE conversation = ? AND shown = 1 ORDER BY id
            """
        ).all([.text(Self.address)]) {
            Row(
                body: $0.text("body"), isOwn: $0.bool("own"), state: $0.text("state"), isUnsettled: !$0.bool("settled"))
        }
        let problems = checkStay(try stay(database), simulation) + checkSaid(rows, simulation) + checkHeard(rows)
        return problems.map { Violation(.garden, $0) }
    }

    private func stay(_ database: Database) throws -> String? {
        try database.prepare("SELECT state FROM room WHERE jid = ?").first([.text(Self.address)]) { $0.text() }
    }

    /// The account is in the room, and the room knows.
    private func checkStay(_ state: String?, _ simulation: Simulation) -> [String] {
        guard simulation.record.hasJoined else { return [] }
        var wrong: [String] = []
        if state != "joined" { wrong.append("the account wants to be in the room, and is \(state ?? "nowhere")") }
        if occupants.count != 1 { wrong.append("\(occupants.count) occupants are the account's") }
        return wrong
    }

    /// Each accepted message was said once, in order. Without an archive, or before anything of the archive was known,
    /// the outcome of a message may be unknown.
    private func checkSaid(_ rows: [Row], _ simulation: Simulation) -> [String] {
        let said = archive.messages.filter { !$0.from.hasSuffix("/romeo") }.map(\.text)
        let own = rows.filter(\.isOwn)
        var wrong: [String] = []
        for body in simulation.record.sayings where !own.contains(where: { $0.body == body }) {
            wrong.append("\(body) was accepted and is not stored")
        }
        for row in own {
            let count = said.count { $0 == row.body }
            switch row.state {
            case "delivered" where count != 1: wrong.append("\(row.body) is delivered, and was said \(count) times")
            case "delivered": break
            case "failed": wrong.append("\(row.body) has failed")
            case "sent" where row.isUnsettled, "acked" where row.isUnsettled:
                if count > 1 { wrong.append("\(row.body) was said \(count) times") }
                if hasArchive, server.begun < 2 {
                    wrong.append("\(row.body) is of unknown outcome, and no session was lost")
                }
            default: wrong.append("\(row.body) is still \(row.state), and was said \(count) times")
            }
        }
        for row in rows where !row.isOwn && row.body.hasPrefix("say-") {
            wrong.append("\(row.body) is stored as somebody else's")
        }
        for body in Set(said) where said.count(where: { $0 == body }) > 1 { wrong.append("\(body) was said twice") }
        let delivered = own.filter { $0.state == "delivered" }.map(\.body)
        let known = Set(delivered)
        // A message that the link has lost is said again after newer messages.
        if lost == 0, wrong.isEmpty, said.filter({ known.contains($0) }) != delivered {
            wrong.append("said as \(said), accepted as \(delivered)")
        }
        return wrong
    }

    /// Everything that others have said since the account has entered is stored, once.
    private func checkHeard(_ rows: [Row]) -> [String] {
        let others = archive.messages.filter { $0.from.hasSuffix("/romeo") }
        return others.compactMap { message in
            let count = rows.count { !$0.isOwn && $0.body == message.text }
            if count > 1 { return "\(message.text) is there \(count) times" }
            let isMissing = count == 0 && hasArchive && message.number > before ?? .max
            return isMissing ? "\(message.text) is not there" : nil
        }
    }
}
