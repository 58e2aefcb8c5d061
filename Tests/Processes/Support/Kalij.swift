import Foundation
import KalijLab
import Testing

/// The release build of the command, as its users have it.
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
        let process = started(arguments, environment: environment)
        let (output, errors, inputPipe) = (Pipe(), Pipe(), Pipe())
        (process.standardOutput, process.standardError, process.standardInput) = (output, errors, inputPipe)
        try process.run()
        // The command may end without reading what it is given.
        try? inputPipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try inputPipe.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaints = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, output: text, errors: complaints)
    }

    /// Logs in to a server of the laboratory.
    func login(_ server: any XMPPServer, as address: String = "alice@localhost", password: String = "secret") throws
        -> Outcome
    {
        try self(
            "login", address, "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            environment: ["KALIJ_PASSWORD": password])
    }

    /// A `kalij run` that goes on, with commands on its standard input.
    func running() throws -> Running { try Running(started(["--json", "run"], environment: [:])) }

    /// A command that goes on.
    func begun(_ arguments: [String]) throws -> Running { try Running(started(arguments, environment: [:])) }

    private func started(_ arguments: [String], environment: [String: String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = ["--data", data] + arguments
        process.environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"].merging(environment) { $1 }
        return process
    }
}

/// A `kalij run` in the background.
final class Running {
    let process: Process
    private let input = Pipe()
    private let folder: String
    private var outputPath: String { folder + "/output" }

    init(_ process: Process) throws {
        self.process = process
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("kalij-run-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: folder + "/output"))
        process.standardOutput = FileHandle(forWritingAtPath: folder + "/output")
        process.standardError = FileHandle.nullDevice
        process.standardInput = input
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var pid: Int32 { process.processIdentifier }

    func write(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// The events so far.
    func events() throws -> [[String: Any]] {
        let text = try String(contentsOfFile: outputPath, encoding: .utf8)
        return text.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    /// Waits for an event that `matches`.
    @discardableResult
    func event(_ name: String, seconds: Double = 20, where matches: ([String: Any]) -> Bool = { _ in true })
        async throws -> [String: Any]
    {
        for _ in 0..<Int(seconds * 50) {
            if let event = try events().first(where: { $0["event"] as? String == name && matches($0) }) { return event }
            try await Task.sleep(for: .milliseconds(20))
        }
        let seen = try events().compactMap { $0["event"] as? String }
        throw Missing(description: "no event \(name) within \(seconds) s; seen: \(seen)")
    }

    struct Missing: Error, CustomStringConvertible { let description: String }

    /// Sends a signal and waits; returns the seconds it took and the exit status.
    func end(_ signal: Int32) -> (seconds: Double, status: Int32) {
        let start = Date()
        kill(pid, signal)
        process.waitUntilExit()
        return (Date().timeIntervalSince(start), process.terminationStatus)
    }

    /// A line of `/proc/PID/status`, as its number.
    func procStatus(_ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }
}
