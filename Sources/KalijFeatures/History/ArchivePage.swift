import KalijCore
import KalijStream
import KalijXML

import FoundationEssentials

/// A query for a page of an archive (XEP-0313 section 4, XEP-0059).
struct ArchiveQuery {
    enum Place {
        /// After the message with this id; nil: from the start time.
        case after(String?)
        /// Before the message with this id; nil: up to the end time.
        case before(String?)
    }

    package let archive: Archive
    /// Only messages from or to this address (section 4.1.1).
    var with: String?
    /// The `queryid`, which all results of this query repeat. It is random, so that no other entity can guess it.
    package let id = UUID().uuidString.lowercased()
    package let place: Place
    /// Milliseconds since 1970.
    package var start: Int64?
    /// Milliseconds since 1970.
    package var end: Int64?
    /// The maximum number of messages in the page.
    package var size = 100

    package var element: Element {
        let query = Element("query", xmlns: "urn:xmpp:mam:2", attributes: ["queryid": id])
        let times = [start.map { ("start", $0) }, end.map { ("end", $0) }].compactMap { $0 }
        if !times.isEmpty || with != nil {
            let fields =
                (with.map { [DataForm.Field("with", value: $0)] } ?? [])
                + times.map { name, time in
                    DataForm.Field(name, value: Date(timeIntervalSince1970: Double(time / 1000)))
                }
            query.add(DataForm(.submit, formType: "urn:xmpp:mam:2", fields: fields).element)
        }
        let set = Element(
            "set", xmlns: ArchivePage.paging,
            children: [Element("max", xmlns: ArchivePage.paging, text: "\(size)")])
        switch place {
        case .after(let id?): set.add(Element("after", xmlns: ArchivePage.paging, text: id))
        case .after(nil): break
        case .before(let id?): set.add(Element("before", xmlns: ArchivePage.paging, text: id))
        case .before(nil): set.add(Element("before", xmlns: ArchivePage.paging))
        }
        query.add(set)
        return .request(.set, query, to: archive.recipient)
    }
}

/// The end of a page, `<fin/>`.
struct ArchivePage {
    /// The problem of an archive that has more messages, and names none where the next page begins.
    static let noContinuation = "the server's archive ended a page without saying where it goes on"

    /// Whether the page is the last one in the requested direction.
    private(set) var isComplete: Bool
    package private(set) var first: String?
    package private(set) var last: String?
    /// Whether the page names no first and last message, and so is empty (XEP-0059 section 2.2).
    var isEmpty: Bool { first == nil && last == nil }

    static let paging = "http://jabber.org/protocol/rsm"

    /// Parses the response to a query; nil for an error and for any other stanza.
    package init?(_ iq: Element) {
        guard iq["type"] == "result", let fin = iq.child("fin", "urn:xmpp:mam:2") else { return nil }
        isComplete = fin["complete"] == "true" || fin["complete"] == "1"
        let set = fin.child("set", Self.paging)
        first = set?.child("first", Self.paging).flatMap { Archive.isID($0.text) ? $0.text : nil }
        last = set?.child("last", Self.paging).flatMap { Archive.isID($0.text) ? $0.text : nil }
    }

    /// The page, with missing fields filled in from its results.
    func filled(by round: ArchiveSyncState) -> ArchivePage { filled(round.shown, first: nil, last: round.lastID) }
    /// The page, with missing fields filled in from its results.
    func filled(by row: BackfillRow) -> ArchivePage { filled(row.shown, first: row.first?.id, last: row.last?.id) }
    /// The page, with missing fields filled in from its results.
    func filled(by row: ConversationHistoryRow) -> ArchivePage { filled(row.shown, first: row.first?.id, last: nil) }

    /// An empty page is the last one, even without the attribute `complete` (openfire, older ejabberd). A page that names no first or
    /// last message begins and ends with its first and its last result.
    private func filled(_ shown: Int64, first: String?, last: String?) -> ArchivePage {
        var page = self
        if shown == 0 {
            page.isComplete = isComplete || isEmpty
        } else {
            (page.first, page.last) = (self.first ?? first, self.last ?? last)
        }
        return page
    }

    /// The rate limit for pages without results.
    static let emptyPages = RequestPace(50, atOnceThen: .seconds(60), upTo: .seconds(3600))

    /// Whether the reading continues after `last`. An archive may name further pages without end that contain no results:
    /// ``emptyPages`` limits their rate.
    /// - Parameter shown: the last result of the reading.
    func continues(behind last: String, shown: String?, of archive: Archive, in step: Step) throws -> Bool {
        guard last != shown else { return true }
        let pacing = Pacing(step: step)
        guard try pacing.wait(ArchivePageResponse.name, archive.key, Self.emptyPages) == 0 else { return false }
        try pacing.acquire(ArchivePageResponse.name, archive.key, Self.emptyPages)
        return true
    }

    /// The description of an archive's error response.
    package static func refusal(_ iq: Element) -> String {
        "the server's archive refused: \(StanzaError(iq)?.description ?? "no reason given")"
    }
}
