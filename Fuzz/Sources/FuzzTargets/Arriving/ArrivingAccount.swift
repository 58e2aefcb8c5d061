import KalijAddress
import KalijStore
import KalijStream
import KalijXML

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An account whose steps are run by hand, in a room with a contact, with a fresh database in memory. Its server answers each request,
/// most with an error.
final class ArrivingAccount {
    static let room = "orchard@muc.example.org"
    /// The most bytes of a value beside messages: a room's subject may be this long.
    static let mostBytes: Int64 = 10_000

    private static let clock = Clock(now: { 1_795_262_400_000 }, monotonic: { 0 }, sinceBoot: { 0 })
    private let folder: Folder
    private let driven: ManualDriver

    /// A folder that goes with its owner.
    private final class Folder {
        let path: String

        init() throws {
            path = "/dev/shm/kalij-fuzz-\(UUID().uuidString)"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// A copy of the database of an account that is in the room: entering takes longer than most inputs.
    convenience init() throws {
        let folder = try Folder()
        let (database, count) = try Self.entered.get()
        try database.write(to: URL(filePath: folder.path + "/kalij.db"))
        try self.init(folder, received: count)
        _ = try driven.resume()
    }

    private init(_ folder: Folder, received: HandledCount = .zero) throws {
        self.folder = folder
        driven = try ManualDriver(
            AccountDirectory(folder.path), as: JID("juliet@example.org"), resource: "balcony", applications: [],
            notifies: true, clock: Self.clock, received: received)
    }

    private static let entered = Result {
        let folder = try Folder()
        let count: HandledCount
        do {
            let account = try ArrivingAccount(folder)
            _ = try account.driven.perform { step in
                let rows = RosterRows(database: step.database, account: step.account.id)
                try rows.store(Contact(.received("romeo@example.net"), subscription: .from))
                _ = try Intents(step: step).perform(JoinRoom(JID(room)), id: "join")
            }
            _ = try account.begin()
            count = account.driven.count
        }
        return (try Data(contentsOf: URL(filePath: folder.path + "/kalij.db")), count)
    }

    // MARK: From the server

    /// A new session begins.
    /// - Returns: the names of the events.
    func begin() throws -> [String] {
        let events = try driven.bind()
        return names(events) + (try serve())
    }

    /// A stanza arrives, and the server answers what the client sends then.
    /// - Returns: the names of the events.
    func receive(_ stanza: Element) throws -> [String] {
        if stanza["id"] == "bookmarks" {
            _ = try driven.perform { try Bookmarks(step: $0).ask() }
            let query = "SELECT id FROM request WHERE name = 'rooms.bookmarks' ORDER BY asked_at DESC LIMIT 1"
            stanza["id"] = try driven.database.prepare(query).first { $0.text() }
        }
        return try names(driven.receive(stanza)) + serve()
    }

    private func names(_ events: [EngineEvent]) -> [String] { events.map { type(of: $0.content).name } }

    /// - Returns: the names of the events.
    private func serve() throws -> [String] {
        var events: [String] = []
        for _ in 0..<8 {
            let left = try driven.leave()
            events += names(left.events) + names(try driven.acknowledge())
            guard !left.stanzas.isEmpty else { break }
            for stanza in left.stanzas { events += try answers(to: stanza).flatMap { names(try driven.receive($0)) } }
        }
        return events
    }

    private func answers(to stanza: Element) throws -> [Element] {
        let to = stanza["to"] ?? ""
        if stanza.name == "presence", stanza["type"] == nil, stanza.child("x", "http://jabber.org/protocol/muc") != nil
        {
            return try entering(to)
        }
        guard stanza.name == "iq", ["get", "set"].contains(stanza["type"]) else { return [] }
        let answer = Element("iq", xmlns: "jabber:client", attributes: ["id": stanza["id"] ?? ""])
        if !to.isEmpty { answer["from"] = to }
        let info = "http://jabber.org/protocol/disco#info"
        if to.utf8.contains(UInt8(ascii: "@")), stanza.child("query", info) != nil {
            answer["type"] = "result"
            let query = answer.add(Element("query", xmlns: info))
            query.add(Element("identity", xmlns: info, attributes: ["category": "conference", "type": "text"]))
            for feature in ["http://jabber.org/protocol/muc", "muc_membersonly", "muc_nonanonymous"] {
                query.add(Element("feature", xmlns: info, attributes: ["var": feature]))
            }
        } else {
            answer["type"] = "error"
            let error = answer.add(Element("error", xmlns: "jabber:client", attributes: ["type": "cancel"]))
            error.add(Element("item-not-found", xmlns: "urn:ietf:params:xml:ns:xmpp-stanzas"))
        }
        return [answer]
    }

    private func entering(_ occupant: String) throws -> [Element] {
        let muc = "http://jabber.org/protocol/muc#user"
        let item = Element("item", xmlns: muc, attributes: ["affiliation": "member", "role": "participant"])
        let x = Element("x", xmlns: muc, children: [item, Element("status", xmlns: muc, attributes: ["code": "110"])])
        let subject = Element(
            "message", xmlns: "jabber:client",
            attributes: ["from": JID.received(occupant).bare.description, "type": "groupchat"],
            children: [Element("subject", xmlns: "jabber:client")])
        return [Element("presence", xmlns: "jabber:client", attributes: ["from": occupant], children: [x]), subject]
    }

    // MARK: The database

    /// Everything that an application shows.
    func readAll() throws {
        let account = driven.account
        let reader = HistoryReader(driven.database)
        for conversation in try Conversations(driven.directory).all() {
            _ = try reader.messages(of: account, with: JID.received(conversation.jid), limit: 100)
        }
        let rooms = Rooms(driven.database)
        for room in try rooms.rooms(of: account) { _ = try rooms.occupants(of: room.jid, for: account) }
        _ = try rooms.invitations(of: account)
        let contacts = Contacts(driven.database)
        _ = (try contacts.contacts(of: account), try contacts.requests(of: account))
    }

    private func columns() throws -> [(table: String, name: String)] {
        try driven.database.prepare(
            """
            SELECT m.name AS name, c.name AS "column" FROM sqlite_schema m CROSS JOIN pragma_table_info(m.name) c
            WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND m.name NOT LIKE 'sqlite%'
            """
        ).all { ($0.text("name"), $0.text("column")) }
    }

    /// Of each column, how many rows have a value.
    func counts() throws -> [String] {
        try Self.grouped(columns()).map { table, columns in
            let counts = columns.map { "count(\"\($0)\")" }.joined(separator: " || ' ' || ")
            let row = try driven.database.prepare("SELECT count(*) || ': ' || \(counts) FROM \"\(table)\"").first {
                $0.text()
            }
            return "\(table) \(row ?? "")"
        }
    }

    private static func grouped(_ columns: [(table: String, name: String)]) -> [(String, [String])] {
        var tables: [(String, [String])] = []
        for (table, name) in columns {
            if tables.last?.0 != table { tables.append((table, [])) }
            tables[tables.count - 1].1.append(name)
        }
        return tables
    }

    /// The longest value of each column in bytes, but for those of messages themselves, and of what waits to be sent.
    func largest() throws -> [(place: String, bytes: Int64)] {
        let messages: Set = ["message", "original", "notification", "sealed", "queue", "operation", "search_data"]
        return try columns().filter { !messages.contains($0.table) }.map { table, column in
            let bytes =
                try driven.database.prepare("SELECT max(length(CAST(\"\(column)\" AS BLOB))) FROM \"\(table)\"")
                .first { $0.optionalInteger() } ?? nil
            return ("\(table).\(column)", bytes ?? 0)
        }
    }
}
