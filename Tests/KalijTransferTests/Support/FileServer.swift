import Foundation
import Synchronization
import TestSupport

/// A file server over TLS whose paths say how it behaves (`Tests/Programs/files.py`). One for a test, so that its log
/// has that test's requests alone.
final class FileServer {
    /// A line of the server's log.
    struct Record: Decodable, Equatable {
        var accepted: Bool?
        var path: String?
        var method: String?
        var fields: [String: String]?
        var got: Int?
        var sha256: String?
        var end: String?
    }

    struct Failure: Error {
        let text: String
    }

    let port: Int
    /// Accepts connections, and never says a word.
    let mutePort: Int
    var authority: String { folder.file("ca.pem") }
    private let folder: ScratchDirectory
    private let process = Process()
    private let input = Pipe()

    init() throws {
        folder = try ScratchDirectory()
        let output = Pipe()
        let program = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Programs/files.py").path
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [program, folder.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = ""
        while !line.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            line += String(decoding: more, as: UTF8.self)
        }
        let ports = line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard ports.count == 2 else { throw Failure(text: "the server does not start: \(line)") }
        (port, mutePort) = (ports[0], ports[1])
    }

    deinit {
        // A child of a worker thread has all other signals blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func url(_ path: String) -> String { "https://localhost:\(port)\(path)" }

    var records: [Record] {
        let text = (try? String(contentsOfFile: folder.file("log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Record.self, from: Data($0.utf8))
        }
    }

    var accepted: Int { records.count { $0.accepted == true } }

    /// The first request, as soon as its end is logged; nil after ten seconds.
    func request() -> Record? {
        for _ in 0..<500 {
            if let found = records.first(where: { $0.accepted == nil }) { return found }
            usleep(20_000)
        }
        return nil
    }
}
