import Foundation
import Glibc
import KalijLab
import Testing

/// A file that alice shares.
struct KilledFile {
    /// The id of the message.
    let id: String
    let to: String
    let size: Int
    /// The text that follows the file.
    let text: String?
    /// In hexadecimal digits, of the file as it was accepted.
    let sha256: String
    let isEncrypted: Bool

    /// The file at `path`.
    init(_ id: String, to: String, text: String?, isEncrypted: Bool, at path: String, in laboratory: Laboratory)
        async throws
    {
        (self.id, self.to, self.text, self.isEncrypted) = (id, to, text, isEncrypted)
        size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        sha256 = try #require(try await FileBooks.hashes(of: [path], laboratory)[path])
    }
}

/// Alice shares files with bob and dave, and encrypted with carol. Her processes are killed; theirs are not.
final class KilledUploads {
    let world: World
    private let name: String
    private let random: RandomChoices
    private let begin = Date()
    private let receivers: [String: EncryptedUser]
    private var files: [KilledFile] = []
    /// How many processes were killed, by their command.
    private var kills: [String: Int] = [:]
    /// The PUTs that were killed, by the state of the upload.
    private var hits: [String: Set<String>] = [:]

    init(_ kind: ServerKind, _ release: DebianRelease, part: Int) async throws {
        name = release == .installed ? "\(kind)" : "\(kind) of Debian 13"
        random = RandomChoices("files at \(name)", part: part)
        var options = ServerOptions()
        (options.release, options.uploads) = (release, .large)
        let users = ["bob", "carol", "dave"]
        world = try await World(kind, options: options, users: ["alice"] + users)
        var receivers: [String: EncryptedUser] = [:]
        for user in users { receivers[user + "@localhost"] = try EncryptedUser(user, world) }
        self.receivers = receivers
        for user in receivers.values { try await user.ready() }
        let alice = EncryptedUser(world.kalij)
        try await alice.ready()
        #expect(try alice.kalij("omemo", "on", "carol@localhost").status == 0)
        alice.end()
    }

    // MARK: Rounds

    func run(kills wanted: Int) async throws {
        var rounds = 0
        while kills.values.reduce(0, +) < wanted, rounds < 4 * wanted {
            rounds += 1
            for _ in 0..<random.number(0...2) { try await accept(killing: random.number(0...9) == 0) }
            switch random.number(0...3) {
            case 0: try await killSend()
            case 1: try await killDriver("flush", ["--json", "-v", "flush"])
            default: try await killDriver("run", ["--json", "run"])
            }
        }
    }

    /// Makes a file, has it accepted, and takes it away.
    /// - Parameter killing: kills the process that accepts at some moment, and has the file accepted once more under the same id.
    private func accept(killing: Bool) async throws {
        let (file, path) = try await makeFile()
        let words = command(file, path) + ["--queue-only"]
        if killing {
            let process = try world.kalij.begun(words)
            try await sleep(for: random.milliseconds(0...60))
            kill(process, "accepting")
        }
        try accepted(file, path, words)
    }

    /// `send` that uploads by itself.
    private func killSend() async throws {
        let (file, path) = try await makeFile()
        let words = command(file, path)
        let process = try world.kalij.begun(words)
        try await sleep(for: random.milliseconds(0...900))
        kill(process, "send")
        try await noteHits()
        try accepted(file, path, words + ["--queue-only"])
    }

    private func killDriver(_ command: String, _ words: [String]) async throws {
        if files.isEmpty || random.flip() { try await accept(killing: false) }
        let process = try world.kalij.begun(words)
        let moment = random.one(of: ["", "\"online\"", "asking", "putting", "sealed", "sealed", "done"]) ?? ""
        _ = try await until(every: 2) {
            if try process.output.contains(moment.hasPrefix("\"") ? moment : "\"transfer\":\"\(moment)") { return true }
            return moment.isEmpty || !process.isRunning
        }
        // More often soon than late: most transfers take a few milliseconds here.
        let share = random.number(0...1.0)
        try await sleep(for: .milliseconds(random.flip() ? 20 * share : 400 * share * share))
        kill(process, command)
        try await noteHits()
    }

    private func command(_ file: KilledFile, _ path: String) -> [String] {
        ["--json", "send", file.to] + (file.text.map { [$0] } ?? []) + ["--file", path, "--id", file.id]
    }

    private func accepted(_ file: KilledFile, _ path: String, _ words: [String]) throws {
        let result = try world.kalij.run(words)
        #expect(result.status == 0, "\(name): \(result)")
        files.append(file)
        // Whatever becomes of the file, its bytes were taken.
        try "something else".write(toFile: path, atomically: false, encoding: .utf8)
        unlink(path)
    }

    private func kill(_ process: Running, _ command: String) {
        process.process.signal(SIGKILL)
        if process.process.ended() == .killed(SIGKILL) { kills[command, default: 0] += 1 }
    }

    /// Notes the PUTs that the process was about, by their states.
    private func noteHits() async throws {
        let rows = try await world.sql(
            "SELECT state, message_id || asked_at FROM upload WHERE state IN ('asking', 'putting', 'sealed')")
        for row in rows.split(separator: "\n") {
            let parts = row.split(separator: "|").map(String.init)
            hits[parts[0], default: []].insert(parts[1])
        }
    }

    // MARK: Files

    /// From a byte to 20 MiB, most under 64 KiB; among the sizes those around the last block (16 KiB).
    private func size() -> Int {
        // Every test has one of the largest.
        if files.count == 2 { return 20 << 20 }
        return switch random.number(0...99) {
        case 0..<12: random.one(of: [1, 2, 15, 16, 17, 16_383, 16_384, 16_385, 32_768]) ?? 1
        case 12..<75: random.number(1...65_536)
        case 75..<92: random.number(65_537...1_048_576)
        case 92..<98: random.number(1_048_577...5_242_880)
        default: random.number(5_242_881...20_971_520)
        }
    }

    private func makeFile() async throws -> (KilledFile, String) {
        let number = files.count
        let size = size()
        let path = world.laboratory.path("file-\(number).bin")
        let bytes = try #require(try FileHandle(forReadingAtPath: "/dev/urandom")?.read(upToCount: size))
        try #require(bytes.count == size && FileManager.default.createFile(atPath: path, contents: bytes))
        let to = random.one(of: ["bob", "bob", "dave", "carol", "carol"]) ?? "bob"
        let file = try await KilledFile(
            "file-\(number)", to: to + "@localhost", text: random.number(0...3) == 0 ? "text-\(number)" : nil,
            isEncrypted: to == "carol", at: path, in: world.laboratory)
        return (file, path)
    }

    // MARK: The end

    /// Lets everything end in peace, and compares.
    func settle() async throws {
        let run = try world.kalij.running()
        let isEmpty = try await until(every: 500) { try world.kalij("uploads").status == 1 }
        let left = try world.kalij("uploads").output
        #expect(isEmpty, "\(name): \(left)")
        var books = FileBooks(world, files, receivers)
        let hasCome = try await until(every: 500) { try await books.hasCome() }
        // What comes twice comes before this.
        for user in receivers.keys {
            #expect(try world.kalij("send", user, FileBooks.marker, "--confirm").status == 0)
            try await receivers[user]?.has(FileBooks.marker, from: "alice@localhost")
        }
        let problems = try await books.problems()
        let sealed = hits["sealed"]?.count ?? 0
        print(
            """
            files at \(name): \(kills.values.reduce(0, +)) kills (\(kills.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                .joined(separator: ", "))), which hit \(hits["asking"]?.count ?? 0) requests, \(hits["putting"]?.count ?? 0) open and \
            \(sealed) sealed PUTs; \(files.count) files of \(files.reduce(0) { $0 + $1.size }) bytes, \
            \(files.count { $0.isEncrypted }) of them encrypted, \(files.count { $0.text != nil }) with a text; \
            \(books.whole) whole copies announced, \(books.second) second copies, \(books.torsos) torsos on the server's disk, \
            \(Int(Date().timeIntervalSince(begin))) s
            """)
        #expect(hasCome && problems.isEmpty, "\(name): \(problems.count), \(problems.prefix(8))")
        #expect(books.second <= sealed, "\(name): a second copy without a sealed PUT that was killed")
        #expect(run.end(SIGTERM).status == 0)
        let kept = (try? FileManager.default.contentsOfDirectory(atPath: world.kalij.data + "/files/out")) ?? []
        #expect(kept.isEmpty, "\(name): \(kept)")
        for user in receivers.values { user.end() }
    }
}
