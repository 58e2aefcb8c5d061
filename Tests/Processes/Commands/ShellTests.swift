import Foundation
import KalijLab
import Testing

/// "Completion for bash, zsh and fish, man pages, both made from the same source as the help."
@Suite struct ShellTests {
    private let laboratory: Laboratory
    private let programs: [String]

    /// Both commands under their names, in a folder of the search path.
    init() throws {
        laboratory = try Laboratory()
        let bin = laboratory.path("bin")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        programs = try [("kalij", "KALIJ_BINARY"), ("kalij-push", "KALIJ_PUSH_BINARY")].map { name, variable in
            let path = try #require(
                ProcessInfo.processInfo.environment[variable], "\(variable) names the command to test")
            try FileManager.default.createSymbolicLink(atPath: "\(bin)/\(name)", withDestinationPath: path)
            return name
        }
        // fish wants a folder for its history.
        try FileManager.default.createDirectory(atPath: laboratory.path("home"), withIntermediateDirectories: true)
    }

    private func run(_ executable: String, _ arguments: [String], input: String = "") throws -> Kalij.Outcome {
        var launch = Launch(executable: executable)
        launch.arguments = arguments
        launch.environment = [
            "PATH": laboratory.path("bin") + ":/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": laboratory.path("home"),
        ]
        let running = try Running(launch)
        running.process.closeInput()
        let ending = running.process.ended()
        return Kalij.Outcome(status: ending?.status ?? -1, output: try running.output, errors: try running.errors)
    }

    private func run(_ program: String, _ arguments: String...) throws -> Kalij.Outcome {
        try run(laboratory.path("bin/\(program)"), arguments)
    }

    @Test(
        "mandoc finds no fault in the man pages, and they have all commands",
        arguments: [("kalij", 1), ("kalij-push", 8)])
    func page(program: String, section: Int) throws {
        let page = try run(program, "help", "--man")
        #expect(page.status == 0 && page.errors.isEmpty)
        let file = laboratory.path("\(program).\(section)")
        try Data(page.output.utf8).write(to: URL(fileURLWithPath: file))
        let lint = try run("/usr/bin/mandoc", ["-Tlint", "-Wall", file])
        #expect(lint.status == 0 && lint.output.isEmpty, "\(lint.output)\(lint.errors)")
        let help = try run(program, "help").output
        let commands = try #require(help.firstRange(of: "commands:\n")).upperBound
        let names = help[commands...].prefix { _ in true }.split(separator: "\n\n")[0].split(separator: "\n")
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(names.count > 3)
        for name in names { #expect(page.output.contains("\n.Ss \(name.replacing("-", with: "\\-"))\n"), "\(name)") }
        #expect(page.output.contains("\n.Sh EXIT STATUS\n"))
    }

    @Test("help has at most 100 columns", arguments: ["kalij", "kalij-push"])
    func width(program: String) throws {
        let help = try run(program, "help").output
        let commands = try run(program, "completion", "words", "--", "").lines.map { $0.split(separator: "\t")[0] }
        #expect(commands.count > 3)
        for text in try [help] + commands.map({ try run(program, "help", String($0)).output }) {
            for line in text.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
        }
    }

    @Test(
        "a shell completes a line",
        arguments: [
            ("kalij hist", "kalij history"), ("kalij room mem", "kalij room members"),
            ("kalij settings romeo@example.net notify=m", "kalij settings romeo@example.net notify=mentions"),
            ("kalij block a@b --rep", "kalij block a@b --report"), ("kalij help qua", "kalij help quarantine"),
            (#"kalij --data "/tmp/a b" hist"#, #"kalij --data "/tmp/a b" history"#),
            ("kalij-push che", "kalij-push check"), ("kalij-push check /etc/host", "kalij-push check /etc/host"),
        ], ["bash", "zsh", "fish"])
    func shells(line: (typed: String, completed: String), shell: String) throws {
        let program = String(line.typed.split(separator: " ")[0])
        let script = try run(program, "completion", shell)
        #expect(script.status == 0)
        let file = laboratory.path("\(program).\(shell)")
        try Data(script.output.utf8).write(to: URL(fileURLWithPath: file))
        let typing = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/complete.py").path
        let outcome = try run("/usr/bin/python3", [typing, shell, file, line.typed])
        let completed = outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
        // Debian's `/etc/host` begins several names.
        if line.typed.hasSuffix("/etc/host") {
            #expect(completed.hasPrefix(line.completed), "\(outcome.errors)")
        } else {
            #expect(completed == line.completed, "\(outcome.errors)")
        }
    }

    @Test("an unknown shell is wrong usage", arguments: ["kalij", "kalij-push"])
    func unknown(program: String) throws {
        let outcome = try run(program, "completion", "tcsh")
        #expect(outcome.status == 64 && outcome.errors.contains("bash, zsh or fish"))
    }

    @Test("output that is lost is an error", arguments: ["help", "help --man", "--version", "completion bash"])
    func lost(words: String) throws {
        for program in programs {
            for target in [">/dev/full", ">&-"] {
                let outcome = try run("/bin/sh", ["-c", "\(program) \(words) \(target)"])
                #expect(
                    outcome.status == 75 && outcome.errors.contains("standard output"), "\(program) \(words) \(target)")
            }
        }
    }

    @Test("help and completion need no home directory")
    func homeless() throws {
        var launch = Launch(executable: laboratory.path("bin/kalij"))
        launch.arguments = ["completion", "words", "--", "hist"]
        launch.environment = ["PATH": "/usr/bin"]
        let running = try Running(launch)
        #expect(running.process.ended()?.status == 0)
        #expect(try running.output == "history\tprint stored messages, fetch older ones\n")
    }
}
