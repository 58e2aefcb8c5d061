import Glibc
import KalijLab

/// The push server's log, polled for lines.
struct DemoLog {
    let path: String
    /// Keeps the process object alive while its log is read.
    let process: Subprocess

    /// A line that was not logged in time.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// Waits until `count` lines contain a text; returns the last of them without its priority.
    func wait(for text: String, count: Int, seconds: Double) async throws -> String {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            let lines = read().split(separator: "\n").filter { $0.contains(text) }
            if lines.count >= count, let line = lines.last {
                return line.hasPrefix("<") ? String(line.dropFirst(3)) : String(line)
            }
            try await sleep(for: .milliseconds(20))
        }
        throw Missing(description: "\"\(text)\" was not logged \(count) times within \(Int(seconds)) s: \(read())")
    }

    private func read() -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Writes a new file.
func writeDemoFile(_ text: String, to path: String) throws {
    guard let file = fopen(path, "we") else { throw DemoLog.Missing(description: "cannot write \(path)") }
    defer { fclose(file) }
    fputs(text, file)
}
