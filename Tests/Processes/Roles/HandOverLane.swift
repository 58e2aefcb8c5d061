import Foundation
import KalijLab
import Testing

/// Shared by all directories of a run.
struct HandOverWorld: Sendable {
    let laboratory: Laboratory
    let server: any XMPPServer
    let freezer: Freezer
    let executable: String
}

/// A directory, its processes, and a steady writer.
actor HandOverLane {
    /// The budget of `wake`, in seconds: enough to give up a silent owner, and then to fetch, on any machine.
    private static let budget = 300

    let world: HandOverWorld
    let data: String
    let number: Int
    private let friend: String
    let bob: Chat
    let random: RandomChoices
    var report = HandOverReport()
    /// The accepted bodies, in this order.
    private(set) var accepted: [String] = []
    /// The rows of the notified messages.
    private(set) var shown: Set<Int> = []
    private(set) var log: FreezeLog
    private(set) var processes: [RoleProcess] = []
    private var serial = 0
    /// The events of the round, for readers of a violation.
    var what = ""

    init(_ number: Int, in world: HandOverWorld) async throws {
        self.number = number
        self.world = world
        random = RandomChoices("hand-over", part: number + 1)
        data = world.laboratory.path("data-\(number)")
        friend = "bob\(number)@localhost"
        log = FreezeLog(path: world.laboratory.path("freeze-\(number)-0"))
        for user in ["alice\(number)", "bob\(number)"] { try await world.server.register(user, password: "secret") }
        var environment = ["KALIJ_PASSWORD": "secret"]
        environment["LANG"] = "C.UTF-8"
        _ = try await world.laboratory.run(
            world.executable,
            [
                "--data", data, "login", "alice\(number)@localhost", "--server", "127.0.0.1:\(world.server.port)",
                "--ca",
                world.server.certificateAuthority,
            ], environment: environment)
        bob = try await Peer("bob\(number)", password: "secret", server: world.server, laboratory: world.laboratory)
            .chat(with: "alice\(number)@localhost", label: "m", rate: 2)
        try await record()
    }

    /// Has the database record the storing process of each message, and how often the outcome of a question was
    /// reported.
    private func record() async throws {
        _ = try await sql(
            """
            CREATE TABLE stored(message INTEGER, role TEXT, number INTEGER);
            CREATE TRIGGER stored AFTER INSERT ON message WHEN new.direction = 'in' BEGIN
                INSERT INTO stored SELECT new.id, role, number FROM fence; END;
            CREATE TABLE outcome(question INTEGER);
            CREATE TRIGGER outcome AFTER UPDATE OF outcome ON question WHEN new.outcome IS NOT NULL BEGIN
                INSERT INTO outcome VALUES (new.id); END;
            """)
    }

    func sql(_ text: String) async throws -> String {
        try await world.laboratory.run(
            "/usr/bin/sqlite3", ["-batch", "-cmd", ".timeout 20000", data + "/kalij.db", text])
    }

    func violation(_ text: String) {
        report.violations.append("directory \(number), round \(report.rounds), \(what): \(text)")
    }

    // MARK: Processes

    @discardableResult
    func start(_ command: String, at point: FreezePoint? = nil) throws -> RoleProcess {
        serial += 1
        report.count(command)
        what += " " + command
        let arguments =
            switch command {
            case "wake": ["-v", "wake", "--budget", "\(Self.budget)"]
            case "ping": ["ping", "localhost", "--wait", "300"]
            default: ["-v", command]
            }
        let process = try RoleProcess(
            arguments, executable: world.executable, data: data, in: world.laboratory,
            files: world.laboratory.path("p-\(number)-\(serial)"),
            environment: world.freezer.environment(log: log.path, at: point, random))
        what += " \(process.pid)"
        processes.append(process)
        return process
    }

    /// Has a message accepted, as the share role does.
    func share() async throws {
        serial += 1
        report.count("send")
        let body = "a \(accepted.count) \(random.number(0...Int(UInt32.max)))"
        let process = try RoleProcess(
            ["send", friend, body, "--queue-only"], executable: world.executable, data: data, in: world.laboratory,
            files: world.laboratory.path("p-\(number)-\(serial)"),
            environment: world.freezer.environment(log: log.path))
        guard await process.end() != nil else { return violation("`send` hangs") }
        if process.ending == .exited(0) { accepted.append(body) } else { report.count("send refused") }
    }

    /// Reads the output of ended processes.
    func reap() {
        for process in processes where !process.isRunning { shown.formUnion(process.shown) }
        processes.removeAll { !$0.isRunning }
    }

    /// Ends all running processes, whatever they do.
    func endAll() async {
        for process in processes where process.isRunning {
            process.signal(SIGCONT)
            process.signal(SIGTERM)
        }
        let start = Date()
        for process in processes {
            if await process.end() == nil {
                violation("\(process.pid) hangs after SIGTERM: \(process.state) \(process.errors)")
                process.signal(SIGKILL)
                _ = await process.end()
            }
            let seconds = Date().timeIntervalSince(start)
            report.lettingGo.append(seconds)
            if seconds > 0.7 { print("round \(report.rounds),\(what): \(seconds) s for \(process.story)") }
        }
        reap()
    }

    /// Begins a round with an empty log.
    func beginRound() {
        report.rounds += 1
        what = ""
        log = FreezeLog(path: world.laboratory.path("freeze-\(number)-\(report.rounds)"))
    }

    /// Looks whether a stale owner has committed anything.
    func endRound() {
        for line in log.lines() where line.what == "stale" {
            violation("process \(line.pid) committed under fence \(line.mine) when \(line.now) was the last")
        }
        log.remove()
    }

    // MARK: Bob's messages

    /// The number of the last message that the server had at `time`: the server had answered the question sent after
    /// the message.
    func lastSent(before time: Date) throws -> Int {
        let limit = time.timeIntervalSince1970
        return (try bob.events().last { $0.event == "sent" && $0.at <= limit }?.number ?? 1) - 1
    }

    /// Whether the message comes into the database.
    func has(_ number: Int) async throws -> Bool {
        guard number > 0 else { return true }
        return try await until(every: 100) {
            try await sql("SELECT count(*) FROM message WHERE direction = 'in' AND body = 'm \(number)'")
                .hasPrefix("1")
        }
    }
}
