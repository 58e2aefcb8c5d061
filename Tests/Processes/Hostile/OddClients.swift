import Foundation
import KalijLab
import Testing

/// A contact, somebody in a room, and another client of bob's, which send what other programs send (`Tests/Programs/odd.py`).
final class OddClients {
    /// What has to be a line of a conversation of bob's.
    struct Line: Decodable {
        let name, conversation, direction: String
        /// Nil: none.
        let text: String?
        let file: Bool
        /// How often the line may be there.
        let count: [Int]
        /// The states that a message of bob's can be in; nil for all.
        let states: [String]?
        let retracted: Bool
        let way: String
        /// The stanzas.
        let sent: [String]
    }

    private struct Answer: Decodable {
        let name: String
        let ends: [String]?
        let lines: [Line]?
    }

    private let running: Running
    private var answers = 0

    init(_ server: any XMPPServer, in laboratory: Laboratory, seed: Int) async throws {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/odd.py").path
        var launch = laboratory.launch(
            "/usr/bin/python3", [program, "\(server.port)", server.certificateAuthority, "\(seed)"])
        launch.environment["PEER_PASSWORD"] = "secret"
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        running = try Running(launch)
        _ = try await answer()
    }

    /// Waits for the answer to the command that was written last.
    private func answer() async throws -> Answer {
        let number = answers
        answers += 1
        _ = try await until { try running.lines.count > number || !running.isRunning }
        let said = try running.errors
        let line = try #require(try running.lines.dropFirst(number).first, "\(said)")
        return try JSONDecoder().decode(Answer.self, from: Data(line.utf8))
    }

    /// Begins to send messages.
    func send(_ count: Int) throws { try running.process.write(line: "send \(count)") }

    /// Waits until the server has the messages of one ``send(_:)``.
    func taken() async throws { _ = try await answer() }

    /// Sends a last line on each way.
    /// - Returns: the names of those that have to arrive.
    func end() async throws -> [String] {
        try running.process.write(line: "end")
        return try await answer().ends ?? []
    }

    /// What has to be there by now.
    func lines() async throws -> [Line] {
        try running.process.write(line: "lines")
        return try await answer().lines ?? []
    }

    func quit() { try? running.process.write(line: "quit") }
}

extension OddClients.Line {
    /// Compares with what a history has of the line.
    /// - Parameter isWhole: whether the history has all that was said.
    func faults(in records: [OddRecord], isWhole: Bool) -> [String] {
        var faults: [String] = []
        if !count.contains(records.count), isWhole || records.count > 1 { faults.append("\(records.count) times") }
        for record in records {
            if record.conversation != conversation { faults.append("in \(record.conversation)") }
            if record.direction != direction { faults.append("\(record.direction)") }
            if record.body != text { faults.append("says \(record.body ?? "nothing")") }
            if record.file != nil, !file { faults.append("a file") }
            if record.file == nil, file, !retracted { faults.append("no file") }
            if record.retracted ?? false != retracted { faults.append(retracted ? "not retracted" : "retracted") }
            if let states, let state = record.state, !states.contains(state) { faults.append(state) }
        }
        return faults.map { "\(name), \(way) in \(conversation), \(text ?? "no text"): \($0); sent: \(sent)" }
    }
}

/// A line of `kalij history --json`, or an event `message` of `kalij run --json`.
struct OddRecord: Decodable {
    struct File: Decodable { let name: String? }
    let id: Int?
    let conversation, direction: String
    let body, state, originID: String?
    let file: File?
    /// False: no line any more.
    let shown: Bool?
    let retracted: Bool?

    private enum CodingKeys: String, CodingKey {
        case id, conversation, direction, body, state, file, shown, retracted
        case originID = "origin_id"
    }

    /// The name that the peers have given the line.
    var name: String? {
        for text in [body, file?.name, originID] {
            if let name = text?.firstMatch(of: /t[0-9]+z/) { return String(name.output) }
        }
        return nil
    }

    /// The messages in the output of a command.
    static func all(_ lines: [String]) throws -> [OddRecord] {
        try lines.filter { $0.contains("\"event\":\"message\"") }
            .map { try JSONDecoder().decode(OddRecord.self, from: Data($0.utf8)) }
    }
}
