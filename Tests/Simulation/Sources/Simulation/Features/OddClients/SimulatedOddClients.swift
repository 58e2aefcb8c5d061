import KalijStore

extension Violation.Promise {
    /// What makes a line of a conversation, and of which conversation.
    static let lines = Violation.Promise("lines")
}

/// Contacts and other clients of the account's that send what other programs send: empty texts, files without a text, notes to the account
/// itself, private messages in rooms where only the other client is.
final class SimulatedOddClients: SimulatedFeature {
    unowned let server: SimulatedServer
    private var count = 0
    /// The ids of messages with a file and without a text, and of notes.
    private var (files, notes): (Set<String>, Set<String>) = ([], [])
    private static let (room, contact) = ("den@conference.example.net", "romeo@example.net/orchard")

    init(_ server: SimulatedServer) { self.server = server }

    /// After each message of a contact's something else comes.
    func additions(to body: String, from sender: String) -> String {
        guard server.profile.hasOddPeers else { return "" }
        count += 1
        let number = count
        server.world.after(Int64(number % 7) * 100_000) { [weak self] in self?.send(number) }
        return ""
    }

    private func send(_ number: Int) {
        let (messages, phone) = (server.messages, server.account + "/phone")
        switch number % 4 {
        case 0:
            let content = "<body/><composing xmlns='http://jabber.org/protocol/chatstates'/>"
            messages.receive(content, from: Self.contact)
        case 1:
            let content = "<x xmlns='jabber:x:oob'><url>https://files.example.net/\(number).jpg</url></x>"
            files.insert(messages.receive(content, from: phone).messageID)
        case 2: notes.insert(messages.receiveNote("<body>note-\(number)</body>", from: phone))
        default:
            let mark = "<x xmlns='http://jabber.org/protocol/muc#user'/>"
            messages.receive("<body>psst-\(number)</body>\(mark)", from: phone, to: Self.room + "/alice")
        }
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        var (violations, count): ([Violation], [String: Int]) = ([], [:])
        let rows = try database.prepare(
            """
            SELECT m.message_id, m.shown, m.conversation, a.message IS NOT NULL AS file, m.shown AND coalesce(m.body, '') = ''
                AND a.message IS NULL AND m.encryption IS NULL AND m.erased IS NULL AS empty
            FROM message m LEFT JOIN attachment a ON a.message = m.id
            """
        ).all {
            (
                id: $0.text("message_id"), isFile: $0.bool("shown") && $0.bool("file"), isEmpty: $0.bool("empty"),
                conversation: $0.text("conversation")
            )
        }
        for row in rows {
            count[row.id, default: 0] += 1
            if row.isEmpty { violations.append(Violation(.lines, "\(row.id) is an empty line")) }
            if files.contains(row.id), !row.isFile { violations.append(Violation(.lines, "\(row.id) is no file")) }
            if row.conversation == Self.room {
                violations.append(Violation(.lines, "\(row.id) is in the conversation with the room"))
            }
        }
        // What no archive keeps may come again after a lost session, and has no id that tells.
        let kept = Set(server.archive.messages.lazy.filter(\.isKept).map(\.messageID))
        for id in files.union(notes).intersection(kept).sorted() where count[id, default: 0] > 1 {
            violations.append(Violation(.lines, "\(id) is there \(count[id] ?? 0) times"))
        }
        let problem = try database.prepare("SELECT problem FROM catchup WHERE problem LIKE '%without saying%' LIMIT 1")
            .first { $0.text("problem") }
        if let problem { violations.append(Violation(.lines, "a gap that is none: \(problem)")) }
        return violations
    }
}
