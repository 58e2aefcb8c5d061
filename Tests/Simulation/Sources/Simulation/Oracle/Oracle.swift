import CSimulatedMachine
import KalijStore
import KalijXML

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A broken promise.
public struct Violation: Sendable, CustomStringConvertible {
    /// The promises of `Documentation/Reliability.md`. A feature adds its own promises.
    public struct Promise: Sendable, Equatable {
        let name: String

        init(_ name: String) { self.name = name }

        static let promise1 = Promise("1 (received once, in order)")
        static let promise2 = Promise("2 (sent once, in order)")
        static let promise3 = Promise("3 (called once)")
        static let promise4 = Promise("4 (notified)")
        /// The rules of `Documentation/Rules.md` for the processes that share a directory (promise 6).
        static let roles = Promise("roles")
        /// No acknowledged stanza is ever missing.
        static let acknowledged = Promise("acknowledged is stored")
        /// The demands of XEP-0198 on a client.
        static let stream = Promise("XEP-0198")
        /// The simulation itself came to a wrong end.
        static let simulation = Promise("none, the simulation")
    }

    public let promise: Promise
    public let text: String

    init(_ promise: Promise, _ text: String) {
        self.promise = promise
        self.text = text
    }

    public var description: String { "promise \(promise.name): \(text)" }
}

/// Compares the database with the server's own record.
struct Oracle {
    let simulation: Simulation

    init(_ simulation: Simulation) { self.simulation = simulation }

    /// A process number for the oracle alone.
    private static let observer: Int32 = 8191

    func reading<Result>(_ body: (Database) throws -> Result) throws -> Result {
        machine_run_as(Self.observer)
        defer { machine_run_as(0) }
        return try body(try Database(path: simulation.directory.databasePath, durability: .process))
    }

    /// The ids of the stored messages, and of the messages set aside because three processes were killed at their stanzas.
    private func readIDs(_ database: Database) throws -> Set<String> {
        let stored = try database.statement("SELECT message_id FROM message").all { $0.text() }
        let setAside = try Quarantine(database).stanzas().compactMap { stanza -> String? in
            guard let bytes = try Quarantine(database).bytes(of: stanza.id) else { return nil }
            let element = try Element.parse(bytes)
            return element.findFirst("{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/message@id")
                ?? element.findFirst("{urn:xmpp:carbons:2}sent/{urn:xmpp:forward:0}forwarded/message@id")
                ?? element["id"]
        }
        // Encrypted messages that are read later.
        let aside = try database.statement("SELECT stanza FROM omemo_aside").all { $0.blob() }
        return simulation.server.omemo.withCopies(
            Set(stored + setAside + aside.compactMap { try? Element.parse($0)["id"] }))
    }

    /// The ids of the stored messages, seen from within a process.
    private func observe(_ database: Database) throws -> Set<String> {
        machine_observe(1)
        defer { machine_observe(0) }
        return try readIDs(database)
    }

    /// At rest everything holds.
    func check() throws -> [Violation] {
        let server = simulation.server
        if simulation.record.restores > 0 { return try reading { try server.omemo.check($0, of: simulation) } }
        return try reading { database in try server.features.flatMap { try $0.check(database, of: simulation) } }
            + server.faults.map { Violation(.stream, $0) }
    }

    /// At any time every acknowledged stanza and every accepted message is in the database.
    func checkAcknowledged() throws -> [Violation] {
        guard simulation.record.restores == 0 else { return [] }
        // An idle process has the same view of the database as any other process, and has the database open.
        let idle = simulation.living.lazy.compactMap(\.idleDatabase).first
        // A process killed just now cannot read.
        let ids = try (try? idle.map(observe)) ?? reading(readIDs)
        let server = simulation.server
        var violations: [Violation] = []
        for message in server.archive.messages
        where server.acknowledgedMessages.contains(message.number) && isStored(message)
            && !ids.contains(message.messageID)
        {
            violations.append(
                Violation(
                    .acknowledged, "\(message.body ?? message.messageID) was acknowledged and is not in the database"))
        }
        for id in simulation.record.acceptedIDs.sorted() where !ids.contains(id) {
            violations.append(Violation(.promise2, "\(id) was accepted and is not in the database"))
        }
        return violations
    }

    /// Texts and changes of texts are stored; receipts and markers of others need not be.
    private func isStored(_ message: ArchivedMessage) -> Bool {
        message.body != nil
            || simulation.server.feature(SimulatedOperations.self).operations[message.number] != nil
    }
}
