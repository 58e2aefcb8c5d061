import Foundation
import TestSupport
import Testing

@testable import KalijCoordination

/// "If it was frozen inside a transaction and so holds SQLite's write lock, it is killed through a pidfd."
@Suite
struct FrozenWriterTests {
    private let scratch: ScratchDirectory
    private var database: String { scratch.file("kalij.db") }

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["kalij.db", "kalij.db-shm"] {
            try Data(count: 1).write(to: URL(fileURLWithPath: scratch.file(name)))
        }
    }

    /// A process that locks a byte of a file, and stops if told to.
    private func locking(_ file: String, at byte: Int, isStopped: Bool) throws -> Process {
        let process = try python(Self.locker, file, "\(byte)")
        guard isStopped else { return process }
        kill(process.processIdentifier, SIGSTOP)
        let state = "/proc/\(process.processIdentifier)/stat"
        // The kernel tells nobody.
        while try !String(contentsOfFile: state, encoding: .utf8).contains(") T ") { usleep(1000) }
        return process
    }

    private static let locker = """
        import fcntl, sys, time
        file = open(sys.argv[1], "r+b")
        fcntl.lockf(file, fcntl.LOCK_EX, 1, int(sys.argv[2]))
        print("locked", flush=True)
        time.sleep(60)
        """

    @Test(
        "a process that keeps others from writing is killed: within a transaction, first to open the database, last to close",
        arguments: [("kalij.db-shm", 120), ("kalij.db-shm", 128), ("kalij.db", 0x4000_0000), ("kalij.db", 0x4000_0002)])
    func isInTheWay(name: String, byte: Int) throws {
        let process = try locking(scratch.file(name), at: byte, isStopped: true)
        defer { kill(process.processIdentifier, SIGKILL) }
        #expect(FrozenWriter.kill(database: database, ifStopped: true) == process.processIdentifier)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
    }

    @Test("a running process is left alone if only stopped processes are meant; a process in a checkpoint, always")
    func isLeftAlone() throws {
        let living = try locking(scratch.file("kalij.db-shm"), at: 120, isStopped: false)
        defer { kill(living.processIdentifier, SIGKILL) }
        #expect(FrozenWriter.kill(database: database, ifStopped: true) == nil)
        let checkpointing = try locking(scratch.file("kalij.db-shm"), at: 121, isStopped: true)
        defer { kill(checkpointing.processIdentifier, SIGKILL) }
        #expect(FrozenWriter.kill(database: database, ifStopped: true) == nil)
        #expect(living.isRunning && checkpointing.isRunning)
    }

    /// "a process that is not of our user and not ours is never killed"
    @Test("a stranger's file with the same inode number on another file system is not taken for the database")
    func inodeElsewhere() throws {
        // Two new file systems give the same numbers in the same order; both end with the process that made them.
        let script = """
            for place in one two; do
                mkdir $0/$place && mount -t tmpfs $place $0/$place && cd $0/$place && touch kalij.db kalij.db-shm || exit
            done
            echo mounted
            exec sleep 60
            """
        let holder = try started(
            "/usr/bin/unshare", [geteuid() == 0 ? "-m" : "-rm", "sh", "-c", script, scratch.path])
        defer { kill(holder.processIdentifier, SIGKILL) }
        let root = "/proc/\(holder.processIdentifier)/root\(scratch.path)"
        let numbers = try ["one", "two"].map {
            try FileManager.default.attributesOfItem(atPath: "\(root)/\($0)/kalij.db-shm")[.systemFileNumber] as? Int
        }
        try #require(numbers[0] != nil && numbers[0] == numbers[1])
        let stranger = try locking("\(root)/two/kalij.db-shm", at: 120, isStopped: true)
        defer { kill(stranger.processIdentifier, SIGKILL) }
        #expect(FrozenWriter.kill(database: root + "/one/kalij.db") == nil)
        #expect(stranger.isRunning)
        #expect(FrozenWriter.kill(database: root + "/two/kalij.db") == stranger.processIdentifier)
    }

    @Test(
        "a process of another user is left alone, even if the process has locked the database",
        .enabled(if: geteuid() == 0, "only root can be another user"))
    func anotherUser() throws {
        let file = scratch.file("kalij.db-shm")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        let other = try started(
            "/usr/bin/setpriv", ["--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", Self.locker, file, "120"])
        defer { kill(other.processIdentifier, SIGKILL) }
        #expect(FrozenWriter.kill(database: database) == nil)
        #expect(other.isRunning)
    }

    @Test("a writer is found, however many locks of others come and go meanwhile")
    func others() throws {
        let writer = try locking(scratch.file("kalij.db-shm"), at: 120, isStopped: true)
        let others = try (0..<3).map { try locking(churning: scratch.file("others-\($0)")) }
        defer { for process in others + [writer] { kill(process.processIdentifier, SIGKILL) } }
        for _ in 0..<RandomInput.rounds(60) {
            #expect(FrozenWriter.holder(of: database) == writer.processIdentifier)
        }
    }

    /// A process that locks and unlocks a hundred files, again and again.
    private func locking(churning name: String) throws -> Process {
        try python(
            """
            import fcntl, sys
            files = [open(sys.argv[1] + str(number), "w") for number in range(100)]
            print("locked", flush=True)
            while True:
                for how in fcntl.LOCK_EX, fcntl.LOCK_UN:
                    for file in files:
                        fcntl.lockf(file, how)
            """, name)
    }

    private func python(_ program: String, _ arguments: String...) throws -> Process {
        try started("/usr/bin/python3", ["-c", program] + arguments)
    }

    /// Starts a program, and waits for the program's first word.
    private func started(_ path: String, _ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        _ = try output.fileHandleForReading.read(upToCount: 7)
        return process
    }
}
