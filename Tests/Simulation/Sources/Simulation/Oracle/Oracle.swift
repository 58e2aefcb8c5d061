import CSimulatedMachine
import KalijStore
import KalijXML

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// What was promised and does not hold.
public struct Violation: Sendable, CustomStringConvertible {
    /// The promises of `Documentation/Reliability.md`.
    public enum Promise: String, Sendable, CaseIterable {
        case promise1 = "1 (received once, in order)"
        case promise2 = "2 (sent once, in order)"
        case promise3 = "3 (called once)"
        case promise4 = "4 (notified)"
        /// What `Documentation/Rules.md` says of the processes that share a directory (promise 6).
        case roles = "roles"
        /// Each event about a message has a number of its own.
        case events = "events numbered"
        /// No acknowledged stanza is ever missing.
        case acknowledged = "acknowledged is stored"
        /// What XEP-0198 demands of a client.
        case stream = "XEP-0198"
        /// The simulation itself came to an end that it should not.
        case simulation = "none, the simulation"
    }

    public let promise: Promise
    public let text: String

    init(_ promise: Promise, _ text: String) {
        self.promise = promise
        self.text = text
    }

    public var description: String { "promise \(promise.rawValue): \(text)" }
}

/// Compares the database with the server's own record.
struct Oracle {
    let simulation: Simulation

    init(_ simulation: Simulation) { self.simulation = simulation }

    private struct Row {
        let key: String
        let origin: String?
        let body: String?
        let direction: String
        let state: String?
        let isUnsettled: Bool
        let recipient: String
    }

    private struct Call {
        let number: Int
        let count: Int
        let outcomes: String
    }

    /// A process number that no other one has.
    private static let observer: Int32 = 8191

    func reading<Result>(_ body: (Database) throws -> Result) throws -> Result {
        machine_run_as(Self.observer)
        defer { machine_run_as(0) }
        return try body(try Database(path: simulation.directory.databasePath, durability: .process))
    }

    private func readRows(_ database: Database) throws -> [Row] {
        try database.prepare(
            """
            SELECT stanza_id, sender, message_id, origin_id, body, direction, state, settled, recipient FROM message
            ORDER BY position, id
            """
        ).all { row in
            Row(
                key: "\(row.text(0)) \(row.text(1)) \(row.text(2))", origin: row.optionalText(3),
                body: row.optionalText(4), direction: row.text(5), state: row.optionalText(6),
                isUnsettled: !row.bool(7), recipient: row.text(8))
        }
    }

    private func readCalls(_ database: Database) throws -> [Call] {
        try database.prepare("SELECT number, count(*), group_concat(outcome) FROM simulated_call GROUP BY number")
            .all { row in Call(number: Int(row.integer(0)), count: Int(row.integer(1)), outcomes: row.text(2)) }
    }

    /// What is stored; also what was set aside because three processes were killed at it.
    private func readBodies(_ database: Database) throws -> Set<String> {
        let stored = try database.statement("SELECT body FROM message WHERE body IS NOT NULL").all { $0.text(0) }
        let setAside = try Quarantine(database).stanzas().compactMap { stanza -> String? in
            guard let bytes = try Quarantine(database).bytes(of: stanza.id) else { return nil }
            return try Element.parse(bytes).findFirst("body#")
        }
        return Set(stored + setAside)
    }

    /// What is stored, seen from within a process.
    private func observe(_ database: Database) throws -> Set<String> {
        machine_observe(1)
        defer { machine_observe(0) }
        return try readBodies(database)
    }

    /// At rest everything holds.
    func check() throws -> [Violation] {
        let (rows, calls, notices, untold) = try reading { database in
            (try readRows(database), try readCalls(database), try readNotices(database), try readUntold(database))
        }
        return received(rows) + sent(rows) + forged(rows) + called(calls) + notified(notices)
            + untold.map { Violation(.events, "\($0) is not in one event") }
            + simulation.server.faults.map { Violation(.stream, $0) }
    }

    /// Promise 1: what the server archived is there, once, and in its order.
    private func received(_ rows: [Row]) -> [Violation] {
        var violations: [Violation] = []
        var count: [String: Int] = [:]
        for row in rows { count[row.body ?? "", default: 0] += 1 }
        let archived = simulation.expected
        let archive = simulation.server.archive
        let older = Set(archive.messages.lazy.filter { archive.older.contains($0.number) }.map(\.body))
        let gone = Set(archive.messages.lazy.filter { archive.gone.contains($0.number) }.map(\.body))
        for body in archived
        where count[body] != 1 && !((older.contains(body) || gone.contains(body)) && count[body] == nil) {
            violations.append(Violation(.promise1, "\(body) is there \(count[body] ?? 0) times"))
        }
        // Of what expired before anybody asked for it nobody can say where it stood. All others stand where the archive has
        // them.
        let unplaced = Set(
            archive.messages.lazy.filter {
                archive.unplaced.contains($0.number) || simulation.plan.profile.hasArchive && !$0.isKept
            }.map(\.body))
        let placed = archived.filter { !unplaced.contains($0) && !older.contains($0) }
        let known = Set(placed)
        let shown = rows.compactMap(\.body).filter { known.contains($0) }
        if violations.isEmpty, shown != placed {
            let place = zip(shown, placed).first { $0 != $1 }
            violations.append(
                Violation(.promise1, "in the place of \(place?.1 ?? "-") the history shows \(place?.0 ?? "-")"))
        }
        return violations
    }

    /// Promise 2: what was accepted reached the server, once, and in order; what perhaps was, did so if it is stored.
    private func sent(_ rows: [Row]) -> [Violation] {
        // Where the archive can prove nothing, what left in a session that was lost is reported, and not sent again.
        let unknown = Set(rows.filter { $0.isUnsettled && mayBeUnknown($0) }.compactMap(\.body))
        simulation.world.counts.unknown += unknown.count
        // Nobody may say so of a session that was resumed each time. A process that is killed may not have told of a new one.
        let isLost = simulation.server.begun > 1
        let accepted = simulation.record.accepted
        let taken = simulation.server.taken.map(\.body)
        var violations: [Violation] = []
        var count: [String: Int] = [:]
        for body in taken { count[body, default: 0] += 1 }
        let stored = rows.filter { $0.direction == "out" && ($0.body ?? "").hasPrefix("out-") }.compactMap(\.body)
        for body in Set(accepted + stored).sorted()
        where count[body] != 1 && !(unknown.contains(body) && count[body] == nil) {
            violations.append(Violation(.promise2, "\(body) reached the server \(count[body] ?? 0) times"))
        }
        for body in unknown.sorted() where !isLost {
            violations.append(Violation(.promise2, "\(body) is of unknown outcome, and no session was lost"))
        }
        for body in accepted where !stored.contains(body) {
            violations.append(Violation(.promise2, "\(body) was accepted and is not stored"))
        }
        for body in Set(taken).subtracting(stored).sorted() {
            violations.append(Violation(.promise2, "\(body) was sent and is not stored"))
        }
        let known = Set(accepted)
        if violations.isEmpty,
            taken.filter({ known.contains($0) }) != accepted.filter({ count[$0] != nil })
        {
            violations.append(Violation(.promise2, "sent as \(taken), accepted as \(accepted)"))
        }
        for row in rows
        where row.direction == "out" && ["queued", "sent"].contains(row.state) && !unknown.contains(row.body ?? "") {
            violations.append(Violation(.promise2, "\(row.body ?? "-") is still \(row.state ?? "-")"))
        }
        return violations
    }

    /// Whether nothing can tell the outcome of a message. Prosody's archive can, where it keeps everything, says so, was never
    /// emptied, and had something that the client knew when the message was accepted.
    private func mayBeUnknown(_ row: Row) -> Bool {
        let profile = simulation.plan.profile
        return !profile.hasArchive || profile.policy != .always || !profile.hasPreferences || profile.archivedLate > 0
            || simulation.world.counts.forgotten > 0 || !simulation.record.acceptedLate.contains(row.body ?? "")
    }

    /// What a hostile room has shown changes nothing outside the room.
    private func forged(_ rows: [Row]) -> [Violation] {
        let bounced = "\(SimulatedServer.nobody)"
        return rows.compactMap { row in
            if row.body?.hasPrefix("forged-") ?? false {
                return Violation(.promise1, "\(row.body ?? "-") is there, which a room has forged")
            }
            guard row.direction == "out", row.state == "failed", row.recipient != bounced else { return nil }
            return Violation(.promise2, "\(row.body ?? "-") has failed, and only a room says so")
        }
    }

    /// Promise 3: each callback is called or invalidated, once.
    private func called(_ calls: [Call]) -> [Violation] {
        var violations: [Violation] = []
        var count: [Int: (Int, String)] = [:]
        for call in calls { count[call.number] = (call.count, call.outcomes) }
        // What was perhaps accepted is called once, or not at all.
        for call in calls where call.count > 1 && !simulation.record.waiting.contains(call.number) {
            violations.append(
                Violation(.promise3, "callback \(call.number) was called \(call.count) times: \(call.outcomes)"))
        }
        for number in simulation.record.waiting.sorted() where count[number]?.0 != 1 {
            let (times, outcomes) = count[number] ?? (0, "")
            violations.append(Violation(.promise3, "callback \(number) was called \(times) times: \(outcomes)"))
        }
        return violations
    }

    /// The messages that came and of which there is no event, or more than one.
    private func readUntold(_ database: Database) throws -> [String] {
        try database.prepare(
            """
            SELECT m.body FROM message m LEFT JOIN event e ON e.message = m.id AND e.kind = 'message'
            WHERE m.received_at IS NOT NULL GROUP BY m.id HAVING count(e.number) <> 1
            """
        ).all { $0.text(0) }
    }

    private struct Notice {
        let body: String
        let identifier: String
        let isDone: Bool
        let isWithdrawn: Bool
    }

    private func readNotices(_ database: Database) throws -> [Notice] {
        try database.prepare(
            "SELECT m.body, n.message, n.done, n.kind FROM notification n JOIN message m ON m.id = n.message"
        ).all { row in
            Notice(
                body: row.text(0), identifier: "\(row.integer(1))", isDone: row.bool(2),
                isWithdrawn: row.text(3) == "withdraw")
        }
    }

    /// Promise 4: what the user was to be notified of was shown, and is not shown any more if it was read elsewhere.
    private func notified(_ notices: [Notice]) -> [Violation] {
        var violations: [Violation] = []
        let shown = simulation.record.shown
        for notice in notices {
            if !notice.isDone {
                violations.append(Violation(.promise4, "\(notice.body) waits to be shown"))
            } else if shown[notice.body].map({ $0.identifier ?? notice.identifier }) != notice.identifier {
                violations.append(Violation(.promise4, "\(notice.body) was never shown"))
            }
        }
        let server = simulation.server
        let incoming = server.archive.messages.filter { !$0.from.hasPrefix(server.account) }
        // What was read on another device need not be shown any more.
        let gone = server.archive.gone
        for message in incoming
        where simulation.plan.mainNotifies && shown[message.body] == nil && !server.readings.contains(message.number)
            && !gone.contains(message.number)
        {
            violations.append(Violation(.promise4, "\(message.body) was never shown"))
        }
        for message in incoming
        where server.acknowledgedReadings.contains(message.number) && shown[message.body]?.isVisible ?? false {
            violations.append(Violation(.promise4, "\(message.body) was read elsewhere and is shown still"))
        }
        // After a power failure nothing is shown, and nobody has withdrawn it.
        for message in incoming where !server.readings.contains(message.number) {
            if let shown = shown[message.body], !shown.isVisible, shown.identifier != nil {
                violations.append(Violation(.promise4, "\(message.body) was withdrawn, and nobody has read it"))
            }
        }
        return violations
    }

    /// At any time: no stanza that was acknowledged is missing, and no message that was accepted.
    func checkAcknowledged() throws -> [Violation] {
        // A process that is at rest has the same view of the database as any other one, and has it open.
        let idle = simulation.living.lazy.compactMap(\.idleDatabase).first
        // Killed just now, it cannot read.
        let bodies = try (try? idle.map(observe)) ?? reading(readBodies)
        let server = simulation.server
        var violations: [Violation] = []
        for message in server.archive.messages
        where server.acknowledgedMessages.contains(message.number) && !bodies.contains(message.body) {
            violations.append(Violation(.acknowledged, "\(message.body) was acknowledged and is not in the database"))
        }
        for body in simulation.record.accepted where !bodies.contains(body) {
            violations.append(Violation(.promise2, "\(body) was accepted and is not in the database"))
        }
        return violations
    }
}
