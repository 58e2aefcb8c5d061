import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// The recorded scenario with encryption: the keys are published, a new contact gets a first text, somebody else begins a
/// session, both sides write, with and without another driving process, and one text is missing for ever.
///
/// One of the commits kills its process in alice's directory; a killed process is started again, as by its user. Bob's and carol's
/// processes live.
struct EncryptedCommitScenario {
    /// The result.
    struct Outcome: Sendable {
        /// Commits of all processes.
        var commits = 0
        /// Processes killed: 0 or 1.
        var kills = 0
        /// What is not as promised.
        var faults: [String] = []
        var keys = 0
        var skipped = 0
        var data: String

        /// No fault, and the scenario came to its end.
        var isClean: Bool { faults.isEmpty && kills <= 1 }
    }

    let laboratory: Laboratory
    let server: any XMPPServer
    let executable: String
    /// Makes the names of the accounts and of the files.
    let name: String
    let environment: [String: String]
    let counter: String

    private var data: String { laboratory.path("data-" + name) }
    private func jid(_ user: String) -> String { "\(user)\(name)@localhost" }

    /// Plays the scenario.
    func play() async throws -> Outcome {
        let users = ["alice", "bob", "carol"]
        for user in users { try await server.register(user + name, password: "secret") }
        let kalij = try Kalij(data: data)
        #expect(try kalij.login(server, as: jid("alice")).status == 0)
        let (bob, carol) = (try other("bob"), try other("carol"))
        for user in [bob, carol] { try await user.ready() }
        var outcome = Outcome(data: data)
        var cast = KilledCast { try start($0) }
        func reach(_ what: String, _ isDone: () async throws -> Bool) async throws {
            let isReached = try await until(every: 50) {
                try cast.again(); return try await isDone()
            }
            if !isReached { outcome.faults.append("never: \(what)") }
        }
        func write(_ user: EncryptedUser, _ text: String) throws {
            #expect(try user.kalij("send", jid("alice"), text, "--queue-only").status == 0)
        }

        try cast.run()
        try await reach("the keys are published") { try await number("omemo_own WHERE stage = 'ready'") == 1 }
        for user in [bob, carol] { #expect(try user.kalij("omemo", "on", jid("alice")).status == 0) }
        try await cast.act(["omemo", "on", jid("bob"), "--queue-only"])
        try await cast.send("a 1", to: jid("bob"))
        try await reach("bob has the first text") { try texts(of: bob).contains("a 1") }
        for text in ["b 1", "b 2"] { try write(bob, text) }
        try write(carol, "c 1")
        try await reach("alice has the first three") { try await heard() == 3 }
        try await cast.send("a 2", to: jid("bob"))
        try await cast.stop()
        try await cast.send("a 3", to: jid("bob"))
        try write(bob, "b 3")
        try write(carol, "c 2")
        try cast.run()
        try await reach("alice has five, and bob has three") {
            try await heard() == 5 && texts(of: bob).contains("a 3")
        }
        try await lose(bob)
        try write(bob, "b 4")
        try await cast.send("a 4", to: jid("carol"))
        try await reach("alice has six") { try await heard() == 6 }
        try await cast.send("a 5", to: jid("bob"))
        try await reach("everything has arrived") {
            guard try texts(of: carol).contains("a 4"), try texts(of: bob).contains("a 5") else { return false }
            return try await isSettled()
        }
        try await cast.stop()
        (outcome.commits, outcome.kills) = (CommitKills.commits(in: counter), cast.kills)
        outcome.skipped = try await number("omemo_kept")
        try judge(EncryptedUser(kalij), "alice", ["b 1", "b 2", "c 1", "b 3", "c 2", "b 4"], &outcome)
        try judge(bob, "bob", ["a 1", "a 2", "a 3", "a 5"], &outcome)
        try judge(carol, "carol", ["a 4"], &outcome)
        for user in [bob, carol] { user.end() }
        try await judgeArchives(&outcome)
        return outcome
    }

    private func other(_ user: String) throws -> EncryptedUser {
        let kalij = try Kalij(data: laboratory.path("data-\(user)-\(name)"))
        #expect(try kalij.login(server, as: jid(user)).status == 0)
        return EncryptedUser(kalij)
    }

    /// A text of bob's is encrypted, and the server refuses the message: its key stays skipped on alice's side.
    private func lose(_ bob: EncryptedUser) async throws {
        #expect(try bob.kalij("block", jid("alice")).status == 0)
        #expect(try bob.kalij("send", jid("alice"), "lost", "--queue-only").status == 0)
        let hasFailed = try await until {
            try bob.messages().contains { $0.body == "lost" && $0.state == "failed" }
        }
        #expect(hasFailed, "the server has taken a message to somebody blocked")
        #expect(try bob.kalij("unblock", jid("alice")).status == 0)
    }

    private func start(_ arguments: [String]) throws -> Subprocess {
        var launch = laboratory.launch(executable, ["--data", data] + arguments)
        launch.directory = nil
        launch.environment.merge(environment) { $1 }
        launch.output = .file(data + ".out")
        launch.errors = .file(data + ".err")
        return try Subprocess(launch, writable: true)
    }

    /// How many rows there are.
    private func number(_ table: String, in name: String = "kalij.db") async throws -> Int {
        let text = try await laboratory.run(
            "/usr/bin/sqlite3",
            [
                "-batch", "-readonly", "-cmd", ".timeout 10000", data + "/" + name,
                "SELECT count(*) FROM \(table)",
            ])
        return try #require(Int(text.trimmingCharacters(in: .newlines)))
    }

    private func heard() async throws -> Int { try await number("message WHERE direction = 'in' AND body IS NOT NULL") }

    private func isSettled() async throws -> Bool {
        guard try await number("parcel", in: "mailbox.db") == 0, try await number("omemo_waiting") == 0 else {
            return false
        }
        return try await number("message WHERE direction = 'out' AND state IN ('queued', 'sent')") == 0
    }

    /// The texts that a user has received.
    private func texts(of user: EncryptedUser) throws -> [String] {
        try user.messages().filter { !$0.from.hasPrefix(own(user)) }.compactMap(\.body)
    }

    private func own(_ user: EncryptedUser) -> String {
        ["alice", "bob", "carol"].first { user.kalij.data.hasSuffix("data-\($0)-\(name)") } ?? "alice"
    }

    // MARK: Judging

    /// Every text is there once, encrypted and readable, in the order of its sender.
    private func judge(_ user: EncryptedUser, _ who: String, _ wanted: [String], _ outcome: inout Outcome) throws {
        let lines = try user.messages()
        let read = lines.filter { !$0.from.hasPrefix(who) }.compactMap(\.body)
        for sender in ["a", "b", "c"] {
            let (found, expected) = (read.filter { $0.hasPrefix(sender) }, wanted.filter { $0.hasPrefix(sender) })
            if found != expected { outcome.faults.append("\(who) has read \(found) instead of \(expected)") }
        }
        for line in lines where line.encryption?["ns"] == nil || line.encryption?["undecryptable"] != nil {
            outcome.faults.append("\(who): \(line)")
        }
        let sent = lines.filter { $0.from.hasPrefix(who) && $0.body != "lost" }
        for line in sent where line.state == "failed" { outcome.faults.append("\(who): \(line)") }
    }

    private func judgeArchives(_ outcome: inout Outcome) async throws {
        var entries: [ArchiveEntry] = []
        for user in ["alice", "bob"] {
            let peer = Peer(user + name, password: "secret", server: server, laboratory: laboratory)
            entries += try await peer.archive()
        }
        let keys = try ArchivedKeys(entries)
        outcome.keys = keys.count
        outcome.faults += keys.plain.map { "in plain: \($0)" } + keys.usedTwice.map { "used twice: \($0)" }
        if outcome.skipped == 0 { outcome.faults.append("no key was skipped") }
    }
}

/// The processes in alice's directory.
struct KilledCast {
    let start: ([String]) throws -> Subprocess
    private var running: Subprocess?
    private(set) var kills = 0

    init(start: @escaping ([String]) throws -> Subprocess) { self.start = start }

    mutating func run() throws { running = try start(["run"]) }

    /// Starts `kalij run` again after a kill.
    mutating func again() throws {
        guard let ending = running?.ending() else { return }
        try #require(ending == .killed(SIGKILL), "kalij run ended by itself with \(ending)")
        kills += 1
        try run()
    }

    /// A killed command is given once more: the text's id decides.
    mutating func act(_ arguments: [String]) async throws {
        for _ in 0..<2 {
            try again()
            let ending = try await start(arguments).wait(seconds: hangLimit)
            if ending == .exited(0) { return }
            try #require(ending == .killed(SIGKILL), "\(arguments) ended with \(String(describing: ending))")
            kills += 1
        }
    }

    mutating func send(_ text: String, to recipient: String) async throws {
        try await act(["send", recipient, text, "--id", text.replacing(" ", with: "-")])
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
