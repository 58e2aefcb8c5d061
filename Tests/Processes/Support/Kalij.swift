import Foundation
import KalijLab
import Testing

/// The release build of the command, like the users'.
struct Kalij {
    let executable: String
    let data: String

    /// - Throws: if the environment does not say where the command is; `make test` does.
    init(data: String) throws {
        executable = try #require(
            ProcessInfo.processInfo.environment["KALIJ_BINARY"],
            "KALIJ_BINARY names the command to test; `make test` builds it and sets this")
        self.data = data
    }

    struct Outcome {
        let status: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }

        /// The lines as JSON objects.
        func objects() throws -> [[String: Any]] {
            try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        }
    }

    /// Runs a command to its end.
    func callAsFunction(_ arguments: String..., input: String = "", environment: [String: String] = [:]) throws
        -> Outcome
    {
        try run(arguments, input: input, environment: environment)
    }

    /// Runs a command to its end.
    func run(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> Outcome {
        let running = try Running(launch(arguments, environment: environment))
        // The command may end without reading its input.
        try? running.process.write(input)
        running.process.closeInput()
        let ending = running.process.ended()
        return Outcome(status: ending?.status ?? -1, output: try running.output, errors: try running.errors)
    }

    /// Logs in to a server of the laboratory.
    func login(_ server: any XMPPServer, as address: String = "alice@localhost", password: String = "secret") throws
        -> Outcome
    {
        try self(
            "login", address, "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            environment: ["KALIJ_PASSWORD": password])
    }

    /// Waits until the server has answered all that the account's sessions have asked.
    func untilAnswered() async throws {
        var launch = Launch(executable: "/usr/bin/sqlite3")
        launch.arguments = [
            "-batch", "-readonly", "-cmd", ".timeout 10000", data + "/kalij.db", "SELECT count(*) FROM request",
        ]
        let isAnswered = try await until(every: 50) {
            let counting = try Running(launch)
            counting.process.ended()
            return try counting.output == "0\n"
        }
        #expect(isAnswered)
    }

    /// A `kalij run` in the background, with commands on its standard input.
    func running() throws -> Running { try begun(["--json", "run"]) }

    /// A command in the background.
    func begun(_ arguments: [String]) throws -> Running { try Running(launch(arguments)) }

    /// The launch of a command.
    func launch(_ arguments: [String], environment: [String: String] = [:]) -> Launch {
        var launch = Launch(executable: executable)
        launch.arguments = ["--data", data] + arguments
        launch.environment.merge(["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"].merging(environment) { $1 }) { $1 }
        return launch
    }
}

/// A program in the background, with its output.
final class Running {
    let process: Subprocess
    private let folder: String

    init(_ launch: Launch) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("kalij-run-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var launch = launch
        launch.output = .file(folder + "/output")
        launch.errors = .file(folder + "/errors")
        process = try Subprocess(launch, writable: true)
    }

    deinit {
        process.signal(SIGKILL)
        process.ended()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var pid: Int32 { process.pid }
    var isRunning: Bool { process.ending() == nil }
    var output: String { get throws { try String(contentsOfFile: folder + "/output", encoding: .utf8) } }
    var errors: String { get throws { try String(contentsOfFile: folder + "/errors", encoding: .utf8) } }
    /// The whole lines so far: the process may be in the middle of one.
    var lines: [String] {
        get throws {
            let output = try output
            let end = output.lastIndex(of: "\n") ?? output.startIndex
            return output[..<end].split(separator: "\n").map(String.init)
        }
    }

    /// The events so far.
    func events() throws -> [[String: Any]] {
        try lines.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
    }

    /// Waits for an event that `matches`.
    @discardableResult
    func event(_ name: String, where matches: ([String: Any]) -> Bool = { _ in true })
        async throws -> [String: Any]
    {
        var found: [String: Any]? {
            get throws { try events().first { $0["event"] as? String == name && matches($0) } }
        }
        _ = try await until(every: 20) { try found != nil || process.ending() != nil }
        if let event = try found { return event }
        let seen = try events().compactMap { $0["event"] as? String }
        let state = process.ending().map { "it ended with \($0)" } ?? "it runs"
        let said = try errors
        throw Missing(description: "no event \(name); seen: \(seen); \(state), and said: \(said)")
    }

    struct Missing: Error, CustomStringConvertible { let description: String }

    /// Sends a signal and waits; returns the exit status. The seconds are not for assertions.
    func end(_ signal: Int32) -> (seconds: Double, status: Int32?) {
        waitUntilCaught(signal)
        let start = Date()
        process.signal(signal)
        let ending = process.ended()
        return (Date().timeIntervalSince(start), ending?.status)
    }

    /// A process that has just begun does not catch signals yet, and would be killed. A program that never does takes ten seconds.
    /// Polls: the kernel reports no change of a signal mask.
    private func waitUntilCaught(_ signal: Int32) {
        guard signal != SIGKILL else { return }
        let end = Date().addingTimeInterval(10)
        while isRunning, !catches(signal), Date() < end { usleep(10_000) }
    }

    /// Whether the process handles the signal, or has blocked it to read it.
    private func catches(_ signal: Int32) -> Bool {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.hasPrefix("SigCgt:") || $0.hasPrefix("SigBlk:") }
            .compactMap { $0.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } }
            .contains { $0 & 1 << UInt64(signal - 1) != 0 }
    }

    /// A line of `/proc/PID/status`, as a number.
    func procStatus(_ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }
}
