import KalijCoordination
import KalijStore
import KalijXML

/// Processes quarantined stanzas.
package struct Replay {
    package let step: Step

    package init(step: Step) { self.step = step }
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// Retries the next stanza of the quarantine that is to be retried, in a step of its own; nil if there is none.
    package static func next(of account: Account, _ runner: StepRunner) throws -> Step.Effects? {
        let isWanted = try runner.database.statement(
            "SELECT 1 FROM quarantine INDEXED BY quarantine_retry WHERE account = ? AND retry = 'wanted' LIMIT 1"
        ).first([.integer(account.id)]) { _ in true }
        guard isWanted ?? false else { return nil }
        var row: Replay.Row?
        _ = try runner.run("replay", for: account) { row = try Replay(step: $0).begin() }
        guard let row else { return nil }
        do {
            return try runner.run("replay", for: account) { try Replay(step: $0).process(row) }
        } catch let error as StoreError where error.isMachineError {
            _ = try? runner.run("replay", for: account) { try Replay(step: $0).postpone(row) }
            throw error
        } catch let error as FenceError {
            throw error
        } catch {
            return try runner.run("replay", for: account) { step in
                try Replay(step: step).fail(row, "tried again: \(error)")
            }
        }
    }

    package struct Row {
        package let id: Int64
        package let stanza: [UInt8]
        /// The order number reserved for the stanza.
        package let position: Int64?
    }

    /// Begins the retry of the next stanza. If the process ends before its completion, the stanza is not retried automatically.
    package func begin() throws -> Row? {
        try database.statement(
            """
            UPDATE quarantine SET retry = 'begun' WHERE id =
                (SELECT id FROM quarantine WHERE account = ? AND retry = 'wanted' ORDER BY id LIMIT 1)
            RETURNING id, stanza, position
            """
        ).first([account]) {
            Row(id: $0.integer("id"), stanza: $0.blob("stanza"), position: $0.optionalInteger("position"))
        }
    }

    /// Processes the stanza as if it arrived now, at its original place, and removes it from the quarantine.
    package func process(_ row: Row) throws {
        try step.count(nil)
        try Dispatcher(step: step).handle(again: try parse(row.stanza), at: row.position)
        try database.run("DELETE FROM quarantine WHERE id = ?", [.integer(row.id)])
    }

    package func fail(_ row: Row, _ reason: String) throws {
        try database.run(
            "UPDATE quarantine SET retry = NULL, reason = ? WHERE id = ?", [.text(reason), .integer(row.id)])
    }

    /// Schedules another retry, because an error of the machine caused the failure.
    package func postpone(_ row: Row) throws {
        try database.run("UPDATE quarantine SET retry = 'wanted' WHERE id = ?", [.integer(row.id)])
    }

    /// Parses the stanza as on a stream, with the present limits.
    private func parse(_ bytes: [UInt8]) throws -> Element {
        let parser = StreamParser()
        var found: StreamParserEvent?
        for piece in [Array(Self.header.utf8), bytes] { try parser.feed(piece) { found = $0 } }
        switch found {
        case .element(let element): return element
        case .skipped(let skipped): throw ReplayError.overLimit("\(skipped.limit)")
        default: throw ReplayError.incomplete
        }
    }

    private static let header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
}

/// The reason why a quarantined stanza cannot be processed.
package enum ReplayError: Error, CustomStringConvertible {
    case overLimit(String)
    case incomplete

    package var description: String {
        switch self {
        case .overLimit(let limit): "over the limit on \(limit)"
        case .incomplete: "it is no whole stanza"
        }
    }
}
