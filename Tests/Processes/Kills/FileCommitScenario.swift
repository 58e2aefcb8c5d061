import Foundation
import Glibc
import KalijLab
import Testing

/// The recorded scenario with files: a file with a text beside a process that runs, an encrypted file by a process that ends by
/// itself, and a file that waits for the next process.
///
/// One of the commits kills its process in alice's directory; a killed process is started again, as by its user. Bob's and carol's
/// processes live.
struct FileCommitScenario {
    /// The result.
    struct Outcome: Sendable {
        /// Commits of all processes.
        var commits = 0
        /// Processes killed: 0 or 1.
        var kills = 0
        /// What is not as promised.
        var faults: [String] = []
        /// Whole files on the server's disk that are announced, and further copies of them.
        var whole = 0
        var second = 0
        var data: String

        /// No fault, and the scenario came to its end.
        var isClean: Bool { faults.isEmpty && kills <= 1 && second <= kills }
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
        let alice = try await user("alice", data)
        let bob = try await user("bob", data + "-bob")
        let carol = try await user("carol", data + "-carol")
        #expect(try alice.kalij("omemo", "on", jid("carol")).status == 0)
        alice.end()
        var outcome = Outcome(data: data)
        var cast = KilledCast { try start($0) }
        var files: [KilledFile] = []

        try cast.run()
        files.append(try await send("bob", size: 40_000, "a text", [], &cast))
        try await reach("the first has left", &cast, &outcome)
        files.append(try await send("bob", size: 15, nil, [], &cast))
        try await cast.stop()
        files.append(try await send("carol", size: 20_000, nil, ["--confirm"], &cast))
        files.append(try await send("bob", size: 16_385, nil, ["--queue-only"], &cast))
        try cast.run()
        try await reach("all have left", &cast, &outcome)
        try await cast.stop()
        (outcome.commits, outcome.kills) = (CommitKills.commits(in: counter), cast.kills)
        try await judge(alice, [jid("bob"): bob, jid("carol"): carol], files, &outcome)
        for user in [bob, carol] { user.end() }
        return outcome
    }

    private func user(_ user: String, _ directory: String) async throws -> EncryptedUser {
        try await server.register(user + name, password: "secret")
        let kalij = try Kalij(data: directory)
        #expect(try kalij.login(server, as: jid(user)).status == 0)
        let user = EncryptedUser(kalij)
        try await user.ready()
        return user
    }

    /// A killed command is given once more: the file's id decides. Afterwards the file is gone.
    private func send(
        _ receiver: String, size: Int, _ text: String?, _ options: [String], _ cast: inout KilledCast
    ) async throws -> KilledFile {
        let id = "file-of-\(size)"
        let path = laboratory.path("\(id)-\(name)")
        let bytes = try #require(try FileHandle(forReadingAtPath: "/dev/urandom")?.read(upToCount: size))
        try #require(FileManager.default.createFile(atPath: path, contents: bytes))
        let file = try await KilledFile(
            id, to: jid(receiver), text: text, isEncrypted: receiver == "carol", at: path, in: laboratory)
        try await cast.act(["send", file.to] + (text.map { [$0] } ?? []) + ["--file", path, "--id", id] + options)
        unlink(path)
        return file
    }

    /// Waits until nothing waits. A PUT that was killed behind its seal is looked for for 40 s.
    private func reach(_ what: String, _ cast: inout KilledCast, _ outcome: inout Outcome) async throws {
        let kalij = try Kalij(data: data)
        let isReached = try await until(every: 100) {
            try cast.again()
            return try kalij("uploads").status == 1
        }
        if !isReached { outcome.faults.append("never: \(what)") }
    }

    private func start(_ arguments: [String]) throws -> Subprocess {
        var launch = laboratory.launch(executable, ["--data", data] + arguments)
        launch.directory = nil
        launch.environment.merge(environment) { $1 }
        launch.output = .file(data + ".out")
        launch.errors = .file(data + ".err")
        return try Subprocess(launch, writable: true)
    }

    private func judge(
        _ alice: EncryptedUser, _ receivers: [String: EncryptedUser], _ files: [KilledFile], _ outcome: inout Outcome
    ) async throws {
        var books = FileBooks(World(laboratory, server, alice.kalij), files, receivers, sender: jid("alice"))
        _ = try await until(every: 200) { try await books.hasCome() }
        // A second copy would come before what the receivers write to one another now.
        let (bob, carol) = (try #require(receivers[jid("bob")]), try #require(receivers[jid("carol")]))
        for (from, to) in [(bob, "carol"), (carol, "bob")] {
            #expect(try from.kalij("send", jid(to), "the last", "--queue-only").status == 0)
        }
        try await bob.has("the last", from: jid("carol"))
        try await carol.has("the last", from: jid("bob"))
        outcome.faults += try await books.problems()
        (outcome.whole, outcome.second) = (books.whole, books.second)
        let kept = (try? FileManager.default.contentsOfDirectory(atPath: data + "/files/out")) ?? []
        if !kept.isEmpty { outcome.faults.append("left in files/out: \(kept)") }
    }
}
