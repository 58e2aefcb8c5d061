import Foundation
import KalijLab
import TestSupport
import Testing

/// The recorded scenario: catching up after the first bind, receiving, sending with and without another driving
/// process, resuming. One of the commits kills its process; a killed process is started again, as by its user.
struct CommitScenario {
    /// The result.
    struct Outcome: Sendable {
        /// Commits of all processes.
        var commits: Int
        /// Processes killed: 0 or 1.
        var kills: Int
        var incoming: DirectionVerdict
        var outgoing: DirectionVerdict
        var isSettled: Bool
        var data: String

        /// No fault, and the scenario came to its end.
        var isClean: Bool {
            incoming.isClean && outgoing.isClean && isSettled && incoming.found == CommitScenario.messages
                && kills <= 1
        }
    }

    static let messages = 9

    let laboratory: Laboratory
    let server: any XMPPServer
    let executable: String
    /// Makes the names of the accounts and of the files.
    let name: String
    let environment: [String: String]
    let counter: String

    private var data: String { laboratory.path("data-" + name) }
    private var alice: Peer { peer("alice" + name) }
    private var bob: Peer { peer("bob" + name) }

    private func peer(_ user: String) -> Peer {
        Peer(user, password: "secret", server: server, laboratory: laboratory)
    }

    /// Plays the scenario.
    func play() async throws -> Outcome {
        for user in ["alice" + name, "bob" + name] { try await server.register(user, password: "secret") }
        let kalij = KalijCommand(executable, data: "data-" + name, laboratory: laboratory)
        try await kalij.login(alice.address, password: "secret", server: server)
        let early = try await bob.chat(with: alice.address, label: "m", rate: 0, count: 3)
        try await early.finished()
        await early.quit()

        var cast = Cast(start: { try start($0) })
        try cast.run()
        #expect(
            try await until(every: 40) {
                try cast.again(); return try await received() >= 3
            })
        let late = try await bob.chat(with: alice.address, label: "m", rate: 10, count: Self.messages - 3, first: 4)
        for reply in 1...2 { try await cast.send(reply, to: bob.address) }
        #expect(
            try await until(every: 40) {
                try cast.again(); return try await received() >= 6
            })
        try await cast.stop()
        try await cast.send(3, to: bob.address)
        try cast.run()
        try await late.finished()
        try await cast.send(4, to: bob.address)
        let isSettled = try await until(every: 40) {
            try cast.again(); return try await settled()
        }
        try await cast.stop()
        await late.quit()

        let heard = try late.events().filter { $0.event == "received" }.compactMap(\.body)
        let evidence = Evidence(
            ownArchive: try await alice.archive(), peerArchive: try await bob.archive(), offered: Self.messages,
            received: try await RawTable(laboratory: laboratory, data: data).messages("in"), heard: heard,
            accepted: cast.accepted, uncertain: cast.uncertain)
        return Outcome(
            commits: CommitKills.commits(in: counter), kills: cast.kills, incoming: evidence.incoming(),
            outgoing: evidence.outgoing(),
            isSettled: isSettled, data: data)
    }

    private func start(_ arguments: [String]) throws -> Subprocess {
        var launch = laboratory.launch(executable, ["--data", data] + arguments)
        launch.directory = nil
        launch.environment.merge(environment) { $1 }
        launch.output = .file(data + ".out")
        launch.errors = .file(data + ".err")
        return try Subprocess(launch, writable: true)
    }

    private func number(_ query: String, in name: String = "kalij.db") async throws -> Int {
        let text = try await laboratory.run(
            "/usr/bin/sqlite3", ["-batch", "-readonly", "-cmd", ".timeout 10000", data + "/" + name, query])
        return try #require(Int(text.trimmingCharacters(in: .newlines)))
    }

    private func received() async throws -> Int {
        try await number("SELECT count(*) FROM message WHERE direction = 'in'")
    }

    private func settled() async throws -> Bool {
        guard try await received() >= Self.messages else { return false }
        // Messages that `send` left in the mailbox, and a killed driver has not taken over, wait for the next driver.
        // Checked first: messages taken over meanwhile are in the queue.
        guard try await number("SELECT count(*) FROM parcel", in: "mailbox.db") == 0 else { return false }
        let open = try await number(
            """
            SELECT (SELECT count(*) FROM queue)
              + (SELECT count(*) FROM message WHERE direction = 'out' AND state IN ('queued', 'sent'))
            """)
        return open == 0
    }
}

/// The processes of a scenario.
private struct Cast {
    let start: ([String]) throws -> Subprocess
    private var running: Subprocess?
    private(set) var kills = 0
    private(set) var accepted: Set<Int> = []
    private(set) var uncertain: Set<Int> = []

    init(start: @escaping ([String]) throws -> Subprocess) {
        self.start = start
    }

    mutating func run() throws {
        running = try start(["run"])
    }

    /// Starts `kalij run` again after a kill.
    mutating func again() throws {
        guard let ending = running?.ending() else { return }
        try #require(ending == .killed(SIGKILL), "kalij run ended by itself with \(ending)")
        kills += 1
        try run()
    }

    mutating func send(_ reply: Int, to recipient: String) async throws {
        try again()
        let process = try start(["send", recipient, "r \(reply)"])
        let ending = await process.wait(seconds: hangLimit)
        switch ending {
        case .exited(0): accepted.insert(reply)
        case .killed(SIGKILL):
            kills += 1
            uncertain.insert(reply)
        default: Issue.record("kalij send ended with \(String(describing: ending))")
        }
    }

    /// Ends `kalij run` in order, even if the end kills the process.
    mutating func stop() async throws {
        try again()
        running?.signal(SIGTERM)
        let ending = running?.ended()
        if ending == .killed(SIGKILL) { kills += 1 }
        running = nil
    }
}
