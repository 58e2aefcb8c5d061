import KalijStore

@testable import KalijFeatures
@testable import KalijCore

extension Violation.Promise {
    /// What is shown of a message is a function of the set of messages; each change of the user's reaches the server once.
    static let operations = Violation.Promise("operations")
}

extension SimulatedOperations {
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        try (checkShown(database, of: simulation) + checkUnknown(database) + checkSent(database, of: simulation))
            .map { Violation(.operations, $0) }
    }

    // MARK: What is shown

    /// Each text looks as the record says.
    private func checkShown(_ database: Database, of simulation: Simulation) throws -> [String] {
        let model = model
        let rows = try Self.rows(in: database)
        let doubtful = try Set(
            database.prepare(
                "SELECT o.target FROM operation o JOIN message m ON m.id = o.message WHERE NOT m.settled AND target > 0"
            ).all { $0.integer() })
        return try server.archive.messages.filter { $0.body != nil && model.isFirst($0) }.flatMap { text -> [String] in
            let changes = model.changes[text.number] ?? []
            guard let row = rows[text.messageID], !doubtful.contains(row), isCertain([text] + changes),
                let stored = try Message.load(row, from: database)?.withReactions(in: database)
            else { return [] }
            if let wrong = forgetting(text, stored, simulation.record) { return wrong }
            var shown = ShownModel.Shown(
                text: stored.body, isEdited: stored.editedAt != nil, isRetracted: stored.erasure == .retracted)
            for reaction in stored.reactions { shown.reactions[reaction.author] = reaction.emoji }
            let wanted = model.shown(text)
            var wrong: [String] = []
            if shown != wanted || !stored.isShown {
                wrong.append("\(text.text) is to be \(wanted), and is \(shown)")
            }
            if let reply = replies[text.number], stored.repliesTo != reply {
                wrong.append("\(text.text) answers \(reply), and not \(stored.repliesTo ?? "nothing")")
            }
            if wanted.isRetracted, try Self.hasText(row, in: database) {
                wrong.append("\(text.text) was retracted, and a text of it is there still")
            }
            return wrong
        }
    }

    /// - Returns: the faults of a text that the user has forgotten; nil if the text is not forgotten.
    private func forgetting(_ text: ArchivedMessage, _ stored: Message, _ record: Record) -> [String]? {
        let wishes = record.changes.values.filter { $0.kind == .forget && $0.target == text.messageID }
        guard stored.erasure == .forgotten else { return nil }
        if wishes.isEmpty { return ["\(text.text) is forgotten, and nobody has asked for that"] }
        return stored.body == nil && !stored.isShown ? [] : ["\(text.text) is forgotten, and shown still"]
    }

    private static func hasText(_ row: Int64, in database: Database) throws -> Bool {
        try database.prepare(
            """
            SELECT 1 FROM original WHERE message = ?1
            UNION ALL SELECT 1 FROM operation WHERE target = ?1 AND kind = 'correction' AND content IS NOT NULL
            """
        ).first([.integer(row)]) { _ in true } ?? false
    }

    /// The messages are here, and stand in the record's order.
    private func isCertain(_ messages: [ArchivedMessage]) -> Bool {
        let archive = server.feature(SimulatedArchive.self).archive
        let isMissing = messages.contains { archive.older.contains($0.number) || archive.gone.contains($0.number) }
        let isUnplaced = messages.contains {
            archive.unplaced.contains($0.number) || server.profile.hasArchive && !$0.isKept
        }
        return !isMissing && !(isUnplaced && messages.count > 2)
    }

    /// The first row of each message of the record.
    private static func rows(in database: Database) throws -> [String: Int64] {
        Dictionary(
            try database.prepare("SELECT message_id, id FROM message ORDER BY id").all {
                ($0.text("message_id"), $0.integer("id"))
            }
        ) { first, _ in first }
    }

    /// A correction without a text that it may correct is a line of its own; no other operation is.
    private func checkUnknown(_ database: Database) throws -> [String] {
        let model = model
        let rows = try Self.rows(in: database)
        return try server.archive.messages.compactMap { message in
            guard let operation = operations[message.number], let row = rows[message.messageID],
                let stored = try Message.load(row, from: database)
            else { return nil }
            if let target = model.target(of: message) {
                // The client perhaps never had the target.
                return stored.isShown && model.chain(of: message).allSatisfy({ isCertain([$0]) })
                    && rows[target.messageID] != nil
                    ? "\(operation) is a line, and has a target" : nil
            }
            // The server has perhaps never seen a text of ours, of unknown outcome.
            if sent[message.messageID] != nil { return nil }
            // The client perhaps never had the retraction.
            if operation.kind == .correction, model.isRetracted(message) { return nil }
            let isLine = operation.kind == .correction
            guard stored.isShown == isLine, !isLine || stored.body == operation.text else {
                return "\(operation) of \(message.from) has no target, and is \(isLine ? "no line" : "a line")"
            }
            return nil
        }
    }

    // MARK: The user's changes

    /// Each accepted change has an outcome, and has reached the server as the outcome says.
    private func checkSent(_ database: Database, of simulation: Simulation) throws -> [String] {
        let outcomes = Dictionary(
            uniqueKeysWithValues: try database.prepare("SELECT id, problem FROM intent").all {
                ($0.text("id"), $0.optionalText("problem"))
            })
        return simulation.record.changes.sorted { $0.key < $1.key }.compactMap { id, change -> String? in
            let count = sent[id] ?? 0
            guard let outcome = outcomes[id] else {
                return change.isAccepted || count > 0
                    ? "\(id) was accepted and never performed, and reached the server \(count) times" : nil
            }
            guard let problem = outcome else { return "\(id) has no outcome" }
            let isUncertain =
                server.begun > 1 && SimulatedMessages.mayBeUnknown(isLate: change.isLate, in: simulation)
            let expected: ClosedRange<Int>
            if !problem.isEmpty {
                expected = 0...(problem.hasPrefix("the session was lost") && isUncertain ? 1 : 0)
            } else if change.kind == .forget {
                expected = 0...0
            } else {
                // A repetition says the same; a correction is not repeated.
                expected = 1...(isUncertain && change.kind != .correct ? .max : 1)
            }
            guard !expected.contains(count) else { return nil }
            return "\(id) reached the server \(count) times: \(problem.isEmpty ? "done" : problem)"
        } + sent.keys.filter { simulation.record.changes[$0] == nil }.map { "nobody has asked for \($0)" }
    }
}
