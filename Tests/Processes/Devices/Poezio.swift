import Foundation
import KalijLab

/// Debian's poezio, driven in a terminal: a client of another library than Kalij's, made for rooms.
struct Poezio {
    private let client: TerminalClient

    /// Comes back once the client has logged in.
    init(_ user: String, in world: World) async throws {
        client = try TerminalClient("poezio", user, log: "debug", in: world)
        // The answer to the last question of the login.
        try await client.loggedIn("storage:bookmarks")
    }

    func type(_ line: String) throws { try client.type(line) }

    /// Ends the client.
    func quit() { client.quit() }

    /// Whether the client has sent (`SEND`) or received (`RECV`) a stanza with all these words.
    func has(_ direction: String, _ words: String...) -> Bool { client.has([":\(direction): "] + words) }

    /// What was said in a room, in its order, by the client's log of the conversation.
    func heard(in room: String) -> [Heard] {
        // MR 20261123T15:20:03Z 000 <dave> , a no-break space, the text.
        lines(of: room).compactMap { line in
            guard line.hasPrefix("MR "), let nick = line.firstIndex(of: "<"), let end = line.range(of: "> \u{A0}")
            else {
                return nil
            }
            return Heard(
                nick: String(line[line.index(after: nick)..<end.lowerBound]), body: String(line[end.upperBound...]))
        }
    }

    /// Whether the log of the room has a line of the room's own with these words.
    func isTold(_ words: String, in room: String) -> Bool {
        lines(of: room).contains { $0.hasPrefix("MI ") && $0.contains(words) }
    }

    private func lines(of room: String) -> [Substring] {
        ((try? String(contentsOfFile: "\(client.folder)/logs/\(room)", encoding: .utf8)) ?? "").split(separator: "\n")
    }
}
