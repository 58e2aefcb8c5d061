import Foundation
import KalijLab
import Testing

/// A `kalij` process in some role, with its output.
final class RoleProcess: Sendable {
    let command: String
    let started = Date()
    private let process: Subprocess
    private let files: String

    /// - Parameters:
    ///   - command: the command with its arguments.
    ///   - files: the output files; removed with this object.
    init(
        _ command: [String], executable: String, data: String, in laboratory: Laboratory, files: String,
        environment: [String: String] = [:]
    ) throws {
        self.command = command.first { !$0.hasPrefix("-") } ?? ""
        self.files = files
        var launch = laboratory.launch(executable, ["--data", data, "--json"] + command)
        launch.directory = nil
        launch.environment.merge(environment) { $1 }
        launch.output = .file(files + ".out")
        launch.errors = .file(files + ".err")
        process = try Subprocess(launch)
    }

    deinit {
        signal(SIGKILL)
        unlink(files + ".out")
        unlink(files + ".err")
    }

    var pid: Int32 { process.pid }
    var ending: Subprocess.Ending? { process.ending() }
    var isRunning: Bool { ending == nil }
    var output: String { (try? String(contentsOfFile: files + ".out", encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOfFile: files + ".err", encoding: .utf8)) ?? "" }
    /// The system's view of the process: its state, and its blocked signals.
    var state: String {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n").filter { line in
            ["State", "SigPnd", "ShdPnd", "SigBlk"].contains { line.hasPrefix($0) }
        }
        let place = (try? String(contentsOfFile: "/proc/\(pid)/wchan", encoding: .utf8)) ?? ""
        return (lines.map(String.init) + [place]).joined(separator: " ").replacingOccurrences(of: "\t", with: " ")
    }
    /// The life of the process, for readers of a violation.
    var story: String { "\(pid) \(command) \(started) \(ending.map { "\($0)" } ?? state): \(errors.suffix(1000))" }
    var seconds: Double { Date().timeIntervalSince(started) }

    func signal(_ signal: Int32) { process.signal(signal) }

    /// The seconds until the end; nil if the process hangs.
    func end() async -> Double? {
        let start = Date()
        return await until { !self.isRunning } ? Date().timeIntervalSince(start) : nil
    }

    /// The shown messages, by their rows.
    var shown: [Int] {
        output.split(separator: "\n").compactMap { line in
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                object["event"] as? String == "notification", object["kind"] as? String == "show"
            else { return nil }
            return (object["identifier"] as? String).flatMap { Int($0) }
        }
    }
}
