import KalijAddress
import KalijStore
import KalijStream
import KalijXML

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore
@testable import KalijTestSupport

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

    private let driven: DrivenAccount

    /// A copy of the database of an account that is in the room: entering takes longer than most inputs.
    convenience init() throws {
        let folder = try Self.folder()
        let (database, count) = try Self.entered.get()
        try database.write(to: URL(filePath: folder.path + "/kalij.db"))
        try self.init(folder, received: count)
        _ = try driven.resume()
    }

    private init(_ folder: TestFolder, received: HandledCount = .zero) throws {
        driven = try DrivenAccount(
            in: folder, as: JID("juliet@example.org"), resource: "balcony", notifies: true,
            clock: TestTime(1_795_262_400_000), received: received)
    }

    private static func folder() throws -> TestFolder {
        try TestFolder(at: "/dev/shm/kalij-fuzz-\(UUID().uuidString)")
    }

    private static let entered = Result {
        let folder = try ArrivingAccount.folder()
        let count: HandledCount
        do {
            let account = try ArrivingAccount(folder)
            _ = try account.driven.run { step in
                let rows = RosterRows(database: step.database, account: step.account.id)
                try rows.store(Contact(.received("romeo@example.net"), subscription: .from))
                _ = try Intents(step: step).perform(JoinRoom(JID(room)), id: "join")
            }
            _ = try account.begin()
            count = account.driven.received
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
            _ = try driven.run { try Bookmarks(step: $0).requestList() }
            let query = "SELECT id FROM request WHERE name = 'rooms.bookmarks' ORDER BY asked_at DESC LIMIT 1"
            stanza["id"] = try driven.database.prepare(query).first { $0.text() }
        }
        return try names(driven.receive(stanza).events) + serve()
    }

    private func names(_ events: [EngineEvent]) -> [String] { events.map { type(of: $0.content).name } }

    /// - Returns: the names of the events.
    private func serve() throws -> [String] {
        var events: [String] = []
        for _ in 0..<8 {
            let sent = try driven.send()
            events += names(sent.events) + names(try driven.acknowledge())
            guard !sent.stanzas.isEmpty else { break }
            for answer in try sent.stanzas.flatMap(answers) { events += names(try driven.receive(answer).events) }
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
    func readAll() throws { try driven.readAll() }

    /// Of each column, how many rows have a value.
    func counts() throws -> [String] {
        try driven.tables { "count(\($0))" }.map { table, counts in
            let row = try driven.database.prepare(
                "SELECT count(*) || ': ' || \(counts.joined(separator: " || ' ' || ")) FROM \"\(table)\""
            ).first { $0.text() }
            return "\(table) \(row ?? "")"
        }
    }

    /// The longest value of each column in bytes.
    func largest() throws -> [(place: String, bytes: Int64)] { try driven.largest() }
}
