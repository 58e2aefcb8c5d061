import Foundation
import KalijLab
import KalijStore
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What becomes of a message whose turn throws, with a real server.
@Suite struct ThrowingApplicationTests {
    @Test(
        "a message whose turn throws is tried again and then set aside; the account goes on, and messages after it are there once"
    )
    func setAside() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let (server, directory) = try await loggedIn(laboratory)
        var options = Engine.Options()
        options.timing.longestRetry = 1
        options.features = [Echo.self, Thrower.self]
        let engine = try await Engine.start(role: .main, in: directory, options: options)
        // The events end with the engine.
        let patience = Task {
            try await sleep(for: .seconds(hangLimit))
            try await engine.stop()
        }
        defer { patience.cancel() }
        var events = engine.events.makeAsyncIterator()
        while let event = await events.next(), !(event.content is CaughtUp) {}

        try await send(["fine", "throw", "after"], server, laboratory)
        var (told, reconnects): ([String], Int) = ([], 0)
        while told.count < 3, let event = await events.next() {
            switch event.content {
            case let stored as MessageStored where stored.message.direction == .incoming:
                told.append(stored.message.body ?? "")
            case is Quarantined: told.append("set aside")
            case is Online: reconnects += 1
            default: break
            }
        }
        #expect(told == ["fine", "set aside", "after"])
        #expect(reconnects == Attempts.last)
        try await engine.stop()
        let database = try directory.read()
        #expect(try StatusReader(directory, database).quarantined().count == 1)
        #expect(try database.prepare("SELECT count FROM org_example_echo").all { $0.integer() } == [2])
        let bodies = try database.prepare("SELECT body FROM message ORDER BY position").all { $0.text() }
        #expect(bodies.filter { !$0.contains(":") } == ["fine", "after"] && bodies.count == 4)
    }

    /// Bob sends texts to alice.
    private func send(_ texts: [String], _ server: any XMPPServer, _ laboratory: Laboratory) async throws {
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        try await bob.send(
            raw: texts.map {
                "<message to='alice@localhost' type='chat' id='\($0)'><body>\($0)</body></message>"
            }.joined())
    }

    private func loggedIn(_ laboratory: Laboratory) async throws -> (any XMPPServer, AccountDirectory) {
        let server = try await startedServer(.prosody, in: laboratory)
        let directory = AccountDirectory(laboratory.path("alice"))
        let settings = ServerSettings(
            override: HostAndPort("127.0.0.1:\(server.port)"), caFile: server.certificateAuthority)
        try directory.logIn(JID.received("alice@localhost"), password: "secret", resource: "bot", server: settings)
        return (server, directory)
    }

    @Test(
        "a message of the archive whose turn throws is set aside, too, and the messages after it are there")
    func archived() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let (server, directory) = try await loggedIn(laboratory)
        // An archive counts whole seconds.
        try await sleep(for: .seconds(2))
        try await send(["fine", "throw", "after"], server, laboratory)
        var options = Engine.Options()
        options.features = [Echo.self, Thrower.self]
        let engine = try await Engine.start(role: .main, in: directory, options: options)
        let patience = Task {
            try await sleep(for: .seconds(hangLimit))
            try await engine.stop()
        }
        defer { patience.cancel() }
        var told: [String] = []
        var events = engine.events.makeAsyncIterator()
        while !told.contains("after"), let event = await events.next() {
            switch event.content {
            case let stored as MessageStored where stored.message.direction == .incoming:
                told.append(stored.message.body ?? "")
            case is Quarantined: told.append("set aside")
            default: break
            }
        }
        #expect(told == ["fine", "set aside", "after"])
        try await engine.stop()
    }

    /// A process that drives until it has read the archive. An exit test would wait for any child of this process, the servers among them.
    /// - Returns: its end.
    private func readArchive(of directory: AccountDirectory) async throws -> Subprocess.Ending {
        var launch = Launch(executable: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        launch.arguments = ["--testing-library", "swift-testing", "--filter", "KilledApplicationTests"]
        launch.environment = ProcessInfo.processInfo.environment.merging(
            [killedDirectory: directory.path]) { $1 }
        return try #require(await Subprocess(launch).wait(seconds: hangLimit))
    }

    @Test(
        "a message of the archive whose turn ends the process is set aside after three processes, and ends no other")
    func killed() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let (server, directory) = try await loggedIn(laboratory)
        // An archive counts whole seconds.
        try await sleep(for: .seconds(2))
        try await send(["fine", "kill", "after"], server, laboratory)
        for _ in 0..<Attempts.last {
            #expect(try await readArchive(of: directory) == .killed(SIGKILL))
        }
        #expect(try await readArchive(of: directory) == .exited(0))
        let database = try directory.read()
        #expect(
            try StatusReader(directory, database).quarantined().map(\.reason) == ["not processed after 3 attempts"])
        let incoming = "SELECT body FROM message WHERE direction = 'in' ORDER BY position"
        #expect(try database.prepare(incoming).all { $0.text() } == ["fine", "after"])
        // A session that is lost: the archive is read from an earlier place.
        try AccountDirectory(directory.path).forgetReading()
        #expect(try await readArchive(of: directory) == .exited(0))
        #expect(try database.prepare(incoming).all { $0.text() } == ["fine", "after"])
        #expect(try StatusReader(directory, database).quarantined().count == 1)
    }
}

/// Names the directory of the accounts to the processes of the test above.
private let killedDirectory = "KALIJ_KILLED_DIRECTORY"

/// The processes of the test above; does nothing outside of that test.
@Suite(.enabled(if: ProcessInfo.processInfo.environment[killedDirectory] != nil))
struct KilledApplicationTests {
    @Test func process() throws {
        let path = try #require(ProcessInfo.processInfo.environment[killedDirectory])
        var options = Engine.Options()
        options.features = [Echo.self, Killer.self]
        var stop: () -> Void = {}
        let engine = try Engine(AccountDirectory(path), options: options) { if $0.content is CaughtUp { stop() } }
        stop = { [weak engine] in engine?.stop() }
        engine.loop.schedule(after: hangLimit) { stop() }
        try engine.run()
        exit(0)
    }
}

extension AccountDirectory {
    /// As after a lost session whose archive has lost the place of the reading.
    fileprivate func forgetReading() throws {
        let database = try Database(path: databasePath, durability: .process)
        try database.execute("DELETE FROM catchup; UPDATE session SET resume_id = NULL")
    }
}
