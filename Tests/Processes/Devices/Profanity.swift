import Foundation
import KalijLab
import Testing

/// Debian's profanity, driven in a terminal: a second client of an account, with none of Kalij's code.
struct Profanity {
    private let client: TerminalClient
    private let user: String
    private let laboratory: Laboratory

    /// A text in the client's own database.
    struct Text: Equatable {
        let from: String
        let body: String
        /// Whether the text replaces another (XEP-0308).
        let isCorrection: Bool
    }

    /// Comes back once the client has logged in, and gets copies of what other clients send.
    init(_ user: String, in world: World) async throws {
        (laboratory, self.user) = (world.laboratory, user)
        client = try TerminalClient("profanity", user, log: "log", in: world)
        try await client.loggedIn("jabber:iq:roster")
        let client = client
        #expect(await until(every: 50) { client.isAnswered("urn:xmpp:carbons:2") }, "profanity gets no copies")
    }

    func type(_ line: String) throws { try client.type(line) }

    /// Ends the client.
    func quit() { client.quit() }

    /// Whether the client has sent (`SENT`) or received (`RECV`) a stanza with all these words.
    func has(_ direction: String, _ words: String...) -> Bool { client.has([" \(direction): "] + words) }

    /// The texts of the client, in their order.
    func texts() async throws -> [Text] {
        try await rows("SELECT from_jid, coalesce(replace_id, '') <> '', message FROM ChatLogs ORDER BY id")
            .map { Text(from: $0[0], body: $0[2], isCorrection: $0[1] == "1") }
    }

    /// What was said in a room, in its order. The client's own texts are there once they are sent.
    func heard(in room: String) async throws -> [Heard] {
        try await rows(
            "SELECT from_jid || '/' || from_resource, to_jid, message FROM ChatLogs WHERE type = 'muc' ORDER BY id"
        )
        .compactMap { row in
            if row[1] == room { return Heard(nick: user, body: row[2]) }
            return row[0].hasPrefix(room + "/")
                ? Heard(nick: String(row[0].dropFirst(room.count + 1)), body: row[2]) : nil
        }
    }

    /// Rows of three columns. Read without locks, for the client gives up a row when its database is locked; so a read may be torn,
    /// and says nothing then.
    private func rows(_ query: String) async throws -> [[String]] {
        let database = client.folder + "/data/profanity/database/\(user)_at_localhost/chatlog.db"
        guard FileManager.default.fileExists(atPath: database) else { return [] }
        let rows = try? await laboratory.run("/usr/bin/sqlite3", ["-batch", "file:\(database)?immutable=1", query])
        return (rows ?? "").split(separator: "\n").map { $0.split(separator: "|", maxSplits: 2).map(String.init) }
            .filter { $0.count == 3 }
    }
}

/// A text that somebody has heard in a room.
struct Heard: Equatable {
    let nick: String
    let body: String
}
