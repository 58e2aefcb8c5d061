import KalijStore

extension SimulatedOMEMO {
    private struct Row {
        let body: String?
        let state: String?
        let error: String?
        let isUnsettled: Bool
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        guard isOn else { return [] }
        var rows: [String: Row] = [:]
        let stored = try database.prepare("SELECT message_id, body, state, error, settled FROM message").all { row in
            (
                row.text("message_id"),
                Row(
                    body: row.optionalText("body"), state: row.optionalText("state"), error: row.optionalText("error"),
                    isUnsettled: !row.bool("settled"))
            )
        }
        for (id, row) in stored {
            // A message that came again under its own id has perhaps a hidden row of its own.
            if rows[id]?.body == nil { rows[id] = row }
        }
        let own = try database.prepare("SELECT device FROM omemo_device").first { UInt32(clamping: $0.integer()) }
        let unreadable = try database.prepare(
            """
            SELECT message_id FROM message WHERE conversation = '\(Self.contact)' AND direction = 'in' AND shown = 1
                AND body IS NULL ORDER BY id
            """
        ).all { "\($0.text("message_id")) is shown and cannot be read" }
        let found =
            (simulation.record.restores == 0 ? unreadable : []) + wire.faults + checkSaid(rows, simulation)
            + checkHeard(rows, own, simulation)
        return found.map { Violation(.encryption, $0) }
    }

    /// For whoever looks for the reason.
    func trace(_ database: Database) throws {
        guard isOn, server.world.isTracing else { return }
        let rows = try database.prepare(
            "SELECT message_id, body, encryption, shown FROM message WHERE conversation = '\(Self.contact)' ORDER BY id"
        ).all { row in
            "\(row.text("message_id")) \(row.optionalText("body") ?? "-") \(row.optionalText("encryption") ?? "-")"
                + (row.bool("shown") ? "" : " hidden")
        }
        for row in rows { server.world.trace("   stored: \(row)") }
    }

    /// Every text of the user's is read by the contact's device once and in order, or has failed with a reason.
    private func checkSaid(_ rows: [String: Row], _ simulation: Simulation) -> [String] {
        let record = simulation.record
        let ids = Dictionary(names.map { ($1, $0) }) { first, _ in first }
        let read = texts(of: 0)
        var count: [String: Int] = [:]
        for text in read { count[text, default: 0] += 1 }
        var found: [String] = []
        for text in record.said + record.perhapsSaid.sorted() {
            let row = ids[text].flatMap { rows[$0] }
            let (arrived, times) = (ids[text].flatMap { wire.count[$0] } ?? 0, count[text] ?? 0)
            if record.saidBefore.contains(text) { continue }
            if times > 1 { found.append("\(text) was read \(times) times") }
            if record.perhapsSaid.contains(text), row == nil, arrived == 0 { continue }
            if row?.state == "failed" {
                if row?.error ?? "" == "" { found.append("\(text) has failed without a reason") }
                if server.profile.hasNodes, arrived == 0 {
                    found.append("\(text) has failed: \(row?.error ?? "-")")
                }
                continue
            }
            let isUnknown =
                row?.isUnsettled ?? false
                && SimulatedMessages.mayBeUnknown(isLate: record.acceptedLate.contains(text), in: simulation)
            if times != 1, !(isUnknown && arrived == 0) {
                found.append("\(text) was read \(times) times, and came \(arrived) times")
            }
            if arrived > 1, record.restores == 0 { found.append("\(text) came \(arrived) times") }
        }
        let said = record.said.filter { count[$0] != nil }
        let known = Set(said)
        if found.isEmpty, record.restores == 0, read.filter(known.contains) != said {
            found.append("the contact reads \(read), accepted was \(said)")
        }
        if record.restores == 0, let problem = unread.first { found.append("the contact cannot read: \(problem)") }
        return found
    }

    /// Every text of the contact's is in the history, readable.
    private func checkHeard(_ rows: [String: Row], _ own: UInt32?, _ simulation: Simulation) -> [String] {
        let (archive, restores) = (server.archive, simulation.record.restores)
        return heard.compactMap { text in
            guard let own, text.readers.contains(own) else { return nil }
            // What comes just after the disk was put back is perhaps in a session that the disk does not have.
            if restores > 0, text.text != "secret-in-9002" || !text.isAnswered { return nil }
            if archive.gone.contains(text.number) || archive.older.contains(text.number) { return nil }
            // Whichever copy comes first is the message.
            let body = ([text.id] + (copies[text.id] ?? [])).lazy.compactMap { rows[$0]?.body }.first
            return body == text.text ? nil : "\(text.text) cannot be read: \(body ?? "no text")"
        }
    }
}
