import CSQLite
import CSimulatedMachine
import Glibc
import KalijStore
import Testing

@testable import Simulation

/// There is only a single simulated machine, and one thread uses the machine.
@Suite(.serialized) struct MachineTests {}

extension MachineTests {
    /// Synced commits stay on the disk, others may be lost.
    @Suite struct DiskTests {
        private let path = "/dev/shm/kalij-disk-\(getpid()).db"

        private func begin(seed: UInt64) throws -> Database {
            machine_install()
            machine_reset(seed)
            machine_run_as(1)
            let database = try Database(path: path, durability: .machine)
            try database.execute("CREATE TABLE kept(number INTEGER)")
            return database
        }

        /// The numbers that a new process finds.
        private func numbers(_ process: Int32 = 100) throws -> [Int64] {
            machine_run_as(process)
            let database = try Database(path: path, durability: .process)
            let problems = try database.prepare("PRAGMA integrity_check").all { $0.text() }
            #expect(problems == ["ok"])
            return try database.prepare("SELECT number FROM kept ORDER BY number").all { $0.integer() }
        }

        private func insert(_ number: Int64, _ database: Database) throws {
            try database.run("INSERT INTO kept VALUES (?)", [.integer(number)])
        }

        @Test("what was synced survives a power failure, what was not may be lost, and sometimes is")
        func power() throws {
            var survivors: Set<[Int64]> = []
            for seed in 1...60 as ClosedRange<UInt64> {
                do {
                    let synced = try begin(seed: seed)
                    try insert(1, synced)
                    let unsynced = try Database(path: path, durability: .process)
                    try insert(2, unsynced)
                    try insert(3, unsynced)
                    machine_kill(1)
                }
                #expect(machine_bury(1) == 0)
                machine_power_failure(seed)
                survivors.insert(try numbers())
            }
            // Commits are lost from the last commit backwards, never in between.
            #expect(survivors == [[1], [1, 2], [1, 2, 3]])
        }

        @Test("a commit that syncs on another connection carries the earlier ones of all connections with it")
        func barrier() throws {
            for seed in 1...40 as ClosedRange<UInt64> {
                do {
                    let synced = try begin(seed: seed)
                    let unsynced = try Database(path: path, durability: .process)
                    try insert(1, unsynced)
                    try insert(2, synced)
                    machine_kill(1)
                }
                #expect(machine_bury(1) == 0)
                machine_power_failure(seed)
                #expect(try numbers() == [1, 2])
            }
        }

        @Test("a process killed at any operation leaves what it had committed, and nothing in part")
        func kills() throws {
            var everything = false
            for operations in 1...400 where !everything {
                var committed: [Int64] = []
                do {
                    let database = try begin(seed: 1)
                    machine_kill_after(1, operations)
                    for number in 1...20 as ClosedRange<Int64> {
                        guard (try? insert(number, database)) != nil, machine_is_dead(1) == 0 else { break }
                        committed.append(number)
                    }
                    everything = machine_is_dead(1) == 0
                    machine_kill(1)
                }
                #expect(machine_bury(1) == 0)
                let found = try numbers()
                // The insertion at hand may have been committed before the process died.
                #expect(found == committed || found == committed + [Int64(committed.count) + 1])
            }
            #expect(everything)
        }

        @Test("an operation that fails undoes one transaction, and no other", arguments: [SQLITE_FULL, SQLITE_IOERR])
        func failures(_ code: Int32) throws {
            for after in 0..<60 {
                var committed: [Int64] = []
                do {
                    let database = try begin(seed: 1)
                    machine_fail(1, 2 | 4 | 8, after, 3, code)
                    for number in 1...20 as ClosedRange<Int64> where (try? insert(number, database)) != nil {
                        committed.append(number)
                    }
                }
                #expect(committed.count < 20)
                machine_kill(1)
                _ = machine_bury(1)
                let found = try numbers()
                #expect(Set(committed).isSubset(of: found))
                #expect(found.count <= committed.count + 3)
            }
        }

        /// Closes a database, on the thread of a task.
        private final class Closing {
            var database: Database?
            init(_ database: Database) { self.database = database }
        }

        /// A process that keeps others from writing can be found, wherever the process stands still (`FrozenWriter`).
        @Test("a process that is frozen while it writes or closes the database is the one that keeps others out")
        func frozen() throws {
            var kept = 0
            for operations in 1...60 {
                let closing = Closing(try begin(seed: 1))
                machine_freeze_after(1, operations, nil)
                // Balanced by the task: the task runs to its end.
                let task = machine_task_start(
                    { context in
                        guard let context else { return }
                        let closing = Unmanaged<Closing>.fromOpaque(context).takeRetainedValue()
                        try? closing.database?.run("INSERT INTO kept VALUES (1)")
                        closing.database = nil
                    }, Unmanaged.passRetained(closing).toOpaque())
                guard let task else { break }
                machine_run_as(2)
                do {
                    let other = try Database(path: path, durability: .process, busySeconds: 0)
                    try insert(2, other)
                } catch let error as StoreError where error.code == .busy {
                    kept += 1
                    #expect(machine_writer(path) == 1, "after \(operations) operations")
                }
                machine_kill(1)
                machine_task_finish(task)
                #expect(machine_bury(1) == 0)
                machine_run_as(2)
                #expect(throws: Never.self) {
                    try insert(3, try Database(path: path, durability: .process, busySeconds: 0))
                }
            }
            #expect(kept > 5)
        }

        @Test("a dead process holds no lock, and writes nothing any more")
        func death() throws {
            do {
                let first = try begin(seed: 1)
                try first.execute("BEGIN IMMEDIATE; INSERT INTO kept VALUES (1)")
                machine_run_as(2)
                let second = try Database(path: path, durability: .process, busySeconds: 0)
                #expect(throws: StoreError(.busy, "")) { try insert(2, second) }
                machine_kill(1)
                #expect(throws: StoreError.self) { try first.execute("COMMIT") }
                machine_run_as(1)
                withExtendedLifetime(second) {}
            }
            #expect(machine_bury(1) == 0)
            machine_run_as(2)
            #expect(try numbers(2).isEmpty)
        }
    }
}
