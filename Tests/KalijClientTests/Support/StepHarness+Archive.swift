import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Answers of archives, for tests of history.
extension StepHarness {
    /// A result of the open page of `kind` ("catchup" or "filling") with the message `body`, archived as `id`.
    func result(
        _ id: String, _ body: String? = nil, at stamp: String = "2026-11-20T10:00:00Z", of kind: String = "catchup",
        room: String? = nil, xml: String? = nil
    ) throws -> String {
        let query = try #require(try text("SELECT query_id FROM \(kind) WHERE archive = '\(room ?? "")'"))
        return """
            <message from='\(room ?? "juliet@example.org")'><result xmlns='urn:xmpp:mam:2' queryid='\(query)' id='\(id)'>\
            <forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='\(stamp)'/>\
            \(StepHarness.inClient(xml ?? ArchiveSyncTests.message(body ?? id)))</forwarded></result></message>
            """
    }

    /// The archive shows the messages `ids`, with the ids as bodies, on the open page of `kind`.
    func show(_ ids: [String], of kind: String = "catchup", at stamp: String = "2026-11-20T10:00:00Z") throws {
        for id in ids { try receive(try result(id, at: stamp, of: kind)) }
    }

    /// The answer to the newest question named `kind`.
    @discardableResult
    func fin(
        _ kind: String, first: String? = nil, last: String? = nil, complete: Bool = false, from: String? = nil
    ) throws -> Step.Effects {
        let id = try #require(try questions(kind, to: from).last)
        let set =
            "<set xmlns='http://jabber.org/protocol/rsm'>"
            + (first.map { "<first index='0'>\($0)</first>" } ?? "") + (last.map { "<last>\($0)</last>" } ?? "")
            + "</set>"
        return try receive(
            """
            <iq type='result' id='\(id)'\(from.map { " from='\($0)'" } ?? "")>\
            <fin xmlns='urn:xmpp:mam:2'\(complete ? " complete='true'" : "")>\(set)</fin></iq>
            """)
    }

    @discardableResult
    func refuse(_ kind: String, _ condition: String, type: String = "cancel") throws -> Step.Effects {
        let id = try #require(try questions(kind).last)
        return try receive(
            """
            <iq type='error' id='\(id)'><error type='\(type)'><\(condition) \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
    }

    /// The archive's copy of the message accepted with the text `body`.
    func copy(of body: String, to recipient: String = "romeo@example.net") throws -> String {
        let id = try #require(try text("SELECT origin_id FROM message WHERE body = '\(body)' AND direction = 'out'"))
        return
            "<message from='juliet@example.org/x' to='\(recipient)' type='chat' id='\(id)'><body>\(body)</body></message>"
    }

    /// Asks for older history.
    func want(older: Int = 0, gaps: Bool = false) throws -> Step.Effects {
        try runner.run("application", for: account) { try $0.fetchHistory(older: older, gaps: gaps) }
    }

    /// The last queued question for a page.
    func lastPage() throws -> Element {
        let sql = "SELECT CAST(stanza AS TEXT) AS xml FROM queue WHERE xml LIKE '%urn:xmpp:mam:2%' ORDER BY id DESC"
        return try Element.parse(StepHarness.inClient(try #require(try text(sql))))
    }

    /// The place and time of the last question: `after a1`, `before a1`, `before`, `from 2026-...`, `until ...`.
    func asked() throws -> [String] {
        let query = try #require(try lastPage().child("query", "urn:xmpp:mam:2"))
        let set = try #require(query.child("set", "http://jabber.org/protocol/rsm"))
        let fields = query.child("x", "jabber:x:data")?.children.filter { ["start", "end"].contains($0["var"]) } ?? []
        let times = fields.map {
            ($0["var"] == "start" ? "from " : "until ") + ($0.child("value", "jabber:x:data")?.text ?? "")
        }
        let places = set.children.filter { $0.name != "max" }
            .map { $0.text.isEmpty ? $0.name : "\($0.name) \($0.text)" }
        return places + times
    }

    /// The ranges of the account's archive, oldest first: `a1...a5`. A `|` means that the archive has nothing before
    /// the range.
    func ranges(_ archive: String = "") throws -> [String] {
        try database.prepare(
            "SELECT bottom, first_id, last_id FROM archive_range WHERE archive = ? ORDER BY last_position"
        ).all([.text(archive)]) { "\($0.bool("bottom") ? "|" : "")\($0.text("first_id"))...\($0.text("last_id"))" }
    }

    /// The lines of `kalij history`: bodies, and gaps.
    func shown(with conversation: String? = nil, limit: Int = 1000) throws -> [String] {
        try HistoryReader(database).entries(of: account, with: try conversation.map { try JID($0) }, limit: limit).map {
            switch $0 {
            case .message(let message): message.body ?? "-"
            case .gap(let gap):
                switch gap.reason {
                case .notFetched: "[not fetched]"
                case .lost: "[lost]"
                case .reading: "[reading]"
                case .unread: "[unread]"
                }
            }
        }
    }

    /// A harness that has read a1 to a<count> from its archive.
    static func read(_ count: Int, tellsTime: Bool = true) throws -> StepHarness {
        let harness = try StepHarness.reading(tellsTime: tellsTime)
        try harness.show((1...count).map { "a\($0)" })
        try harness.answerPage(last: "a\(count)", complete: true)
        try harness.answerPage(complete: true)
        try harness.acknowledgeAll()
        return harness
    }
}
