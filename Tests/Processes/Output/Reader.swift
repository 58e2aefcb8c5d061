import Foundation
import KalijLab
import Testing

/// A shell pipeline around the command, with readers chosen by a test.
struct Pipeline {
    let kalij: Kalij

    struct Outcome {
        /// The status of `kalij`, the first command in the pipeline.
        let status: Int
        let output: String
        let errors: String
    }

    /// Runs `kalij` with `arguments`, followed by the shell's words: `| true`, `>/dev/full`.
    func callAsFunction(_ arguments: String, _ rest: String, input: String = "") throws -> Outcome {
        let folder = try TemporaryDirectory(prefix: "kalij-output")
        defer { folder.remove() }
        var launch = Launch(executable: "/bin/bash")
        launch.arguments = [
            "--norc", "-c",
            "\"$KALIJ\" --data \"$DATA\" \(arguments) \(rest); echo ${PIPESTATUS[0]} >\"$FOLDER/status\"",
        ]
        launch.environment["KALIJ"] = kalij.executable
        launch.environment["DATA"] = kalij.data
        launch.environment["FOLDER"] = folder.path
        launch.output = .file(folder.path + "/output")
        launch.errors = .file(folder.path + "/errors")
        let process = try Subprocess(launch, writable: true)
        try? process.write(input)
        process.ended()
        func text(_ name: String) -> String {
            (try? String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)) ?? ""
        }
        return Outcome(
            status: Int(text("status").trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1, output: text("output"),
            errors: text("errors"))
    }
}
