import Foundation
import Testing

/// How many requests of each kind a server gets at most, by `Documentation/Requests.md`.
struct RequestBounds {
    private let counts: WrongServer.Counts
    /// The user's changes of nicknames.
    private let changes: Double
    /// The numbers of a row: how many at once, and the first pause in seconds.
    private let paces: [String: (burst: Double, pause: Double)]

    /// What the server has (`Tests/Programs/wrong.py`).
    private static let (rooms, contacts) = (4.0, 8.0)

    init(_ counts: WrongServer.Counts, changes: Int) throws {
        (self.counts, self.changes) = (counts, Double(changes))
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Documentation/Requests.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let rows = text.matches(of: /(?m)^\| `([a-z.-]+)` \|.*\| (\d+) at once, then (\d+) to/)
        paces = Dictionary(rows.map { (String($0.output.1), (Double($0.output.2) ?? 0, Double($0.output.3) ?? 1)) }) {
            $1
        }
    }

    private var seconds: Double { counts.seconds }
    private var sessions: Double { Double(counts.sessions) + 1 }
    private var connections: Double { Double(counts.connections) }

    private func of(_ kind: String) -> Double { Double(counts.kinds[kind] ?? 0) }

    /// Requests with a pace, for one thing. Between its pauses a server may leave an account alone, so the pauses count as the first one.
    /// - Parameter anew: how often the pace begins anew.
    private func paced(_ name: String, anew: Double = 1) throws -> Double {
        let pace = try #require(paces[name], "no pace of \(name)")
        return pace.burst * anew + seconds / pace.pause + 1
    }

    /// Once in a session, or three times without an answer.
    private var perSession: Double { 3 * sessions }

    /// The most of each kind.
    func all() throws -> [String: Double] {
        let described = try Self.rooms * paced("rooms.described", anew: sessions)
        // After a join, a connection, a minute or half a minute.
        let pinged = of("presence room") + Self.rooms * (connections + seconds / 30 + 1)
        let lists = Self.contacts + 1
        let own = try paced("omemo.own", anew: sessions)
        let bundles = try lists * paced("omemo.bundle")
        // At a session or a resume and after it, after 200 messages, each 5 s at most; and after pages with messages.
        let pages =
            try 3 * connections + Double(counts.asked) / 200 + seconds / 5 + Double(counts.results)
            + paced("catch-up.page", anew: connections)
        let written = try Self.rooms * paced("rooms.bookmarked") + changes
        let displayed = try paced("reading.published")
        var most = [
            "info room": described + pinged, "ping urn:xmpp:ping room": pinged,
            "presence room": 4 * described + changes,
            // A join, and a description that makes a room a group, query three lists.
            "query http://jabber.org/protocol/muc#admin room": 3
                * (of("presence room") + min(described, of("info room"))),
            "own items bookmarks": try paced("rooms.bookmarks", anew: sessions) + 2 * changes,
            "publish bookmarks": written,
            "retract bookmarks": written, "publish displayed": displayed, "retract displayed": displayed,
            "own items displayed": perSession, "own items list": own,
            "own items bundle": try own + paced("omemo.bundle"),
            "publish list": own, "publish bundle": own, "items bundle": bundles,
            "items list": try Self.contacts * paced("omemo.list"),
            "info entity": try (Self.contacts + 1) * paced("discovery.capabilities", anew: sessions),
            "archive query own": pages, "archive query room": Self.rooms * pages, "archive metadata own": perSession,
            "archive metadata room": Self.rooms * perSession, "archive prefs own": perSession,
            "presence subscribed": try Self.contacts * paced("contacts.subscription"),
            "presence own": perSession, "answer": Double(counts.asked), "message receipt": Double(counts.asked),
        ]
        for kind in [
            "info localhost", "info own", "query jabber:iq:roster", "time urn:xmpp:time", "enable urn:xmpp:carbons:2",
            "blocklist urn:xmpp:blocking",
        ] { most[kind] = perSession }
        // One behind all requests that are over their time; and one behind each answer to a subscription.
        most["ping urn:xmpp:ping"] = counts.kinds.reduce(0) { $0 + ($1.key.contains("ping") ? 0 : Double($1.value)) }
        for node in ["bookmarks", "displayed", "list", "bundle"] {
            let publishes = of("publish \(node)")
            for kind in ["create", "configure", "owner configure", "subscribe"] {
                most["\(kind) \(node)"] = publishes + perSession
            }
        }
        return most
    }
}
