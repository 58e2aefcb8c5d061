import Foundation
import KalijLab

/// What has to be shown in a conversation of alice with bob, by the log of bob's client alone: in the order in which the client has
/// sent and received.
struct OperationBooks {
    /// A text of either side.
    struct Text: Equatable {
        let isBobs: Bool
        var body: String?
        var isEdited = false
        var isRetracted = false
        /// The emoji of each author.
        var reactions: [String: [String]] = [:]
    }

    /// An operation of either side.
    struct Change: Equatable, Hashable {
        let id: String
        let kind: String
        let target: String
    }

    private(set) var texts: [String: Text] = [:]
    /// The ids of bob's and of alice's texts, in order.
    private(set) var bobs: [String] = []
    private(set) var alices: [String] = []
    private(set) var changes: [Change] = []
    /// The ids of alice's texts and operations, in order.
    private(set) var received: [String] = []
    /// Bob's messages that ask for receipts, and the receipts and markers for them.
    private(set) var asking: [String] = []
    private(set) var receipts: [String] = []
    private(set) var markers: [String] = []
    /// Alice's texts that bob has given receipts for.
    private(set) var delivered: Set<String> = []
    /// Alice's texts that bob has marked as displayed, in order.
    private(set) var displayed: [String] = []
    private(set) var errors: [String] = []
    /// The ids of bob's stanzas that came back.
    private(set) var bounced: [String] = []

    init(_ events: [PeerEvent]) {
        for event in events { note(event) }
    }

    private mutating func note(_ event: PeerEvent) {
        guard let id = event.id else { return }
        switch (event.event, event.kind, event.target) {
        case ("sent", _, _):
            bobs.append(id)
            texts[id] = Text(isBobs: true, body: event.number.map { "question \($0)" })
        case ("received", _, _): heard(event, id)
        case ("operation", let kind?, let target?): change(id, kind, target, event.body, by: "bob@localhost")
        case ("operated", let kind?, let target?):
            received.append(id)
            change(id, kind, target, event.body, by: "alice@localhost")
        case ("requested", _, _): asking.append(id)
        case ("receipt", _, _): receipts.append(id)
        case ("marker", _, _): markers.append(id)
        case ("given", "receipt", let target?): delivered.insert(target)
        case ("given", "marker", let target?): displayed.append(target)
        default: break
        }
    }

    private mutating func heard(_ event: PeerEvent, _ id: String) {
        if event.type == "error" { bounced.append(id) }
        guard event.type == "chat", let body = event.body, !body.isEmpty else { return }
        received.append(id)
        alices.append(id)
        texts[id] = Text(isBobs: false, body: body)
    }

    private mutating func change(_ id: String, _ kind: String, _ target: String, _ content: String?, by author: String)
    {
        changes.append(Change(id: id, kind: kind, target: target))
        guard let text = texts[target], kind == "reaction" || text.isBobs == (author == "bob@localhost") else {
            return errors.append("\(id): \(kind) of \(target) by \(author)")
        }
        switch kind {
        case "correction":
            texts[target]?.body = content
            texts[target]?.isEdited = true
        case "retraction": texts[target]?.isRetracted = true
        default:
            let emoji = (content ?? "").split(separator: " ").map(String.init)
            texts[target]?.reactions[author] = emoji.isEmpty ? nil : emoji
        }
    }

    /// Bob's messages that alice's client has to give a receipt for.
    /// - Parameter mayMiss: whether messages that were retracted may be missing.
    func owedReceipts(mayMiss: Bool) -> Set<String> {
        Set(asking.filter { !mayMiss || !(texts[$0]?.isRetracted ?? false) })
    }

    /// What differs from the records of `kalij history --json`.
    /// - Parameter mayMiss: whether messages that were retracted may be missing.
    func differences(from records: [MessageRecord], mayMiss: Bool = false) -> [String] {
        let byID = Dictionary(grouping: records, by: \.id)
        let places = Dictionary(alices.enumerated().map { ($1, $0) }) { $1 }
        let last = displayed.last.flatMap { places[$0] } ?? -1
        // If a marked message may be missing, the state of earlier messages is undefined.
        let lastKnown = displayed.last { !mayMiss || texts[$0]?.isRetracted != true }.flatMap { places[$0] } ?? -1
        var problems = byID.keys.filter { texts[$0] == nil }.map { "\($0) is a message of its own" }
        for (id, text) in texts {
            guard let records = byID[id], let record = records.first, records.count == 1 else {
                let count = byID[id]?.count ?? 0
                if !(mayMiss && text.isRetracted && count == 0) { problems.append("\(id) is shown \(count) times") }
                continue
            }
            let states = places[id].map { ($0 <= last ? ["displayed"] : []) + ($0 > lastKnown ? ["delivered"] : []) }
            if !record.shows(text)
                || !(states?.contains(record.state ?? "") ?? (record.state == nil)) && !(mayMiss && text.isRetracted)
            {
                problems.append(
                    "\(record) is not \(text) \(states ?? []), the last marker is for \(displayed.last ?? "nothing")")
            }
        }
        return problems
    }
}

/// A message as `kalij history --json` shows the message.
struct MessageRecord: Decodable, Equatable {
    let id: String
    let state: String?
    let body: String?
    let edited: String?
    let retracted: Bool?
    let reactions: [String: [String]]?

    private enum CodingKeys: String, CodingKey {
        case state, body, edited, retracted, reactions
        case id = "origin_id"
    }

    /// Nobody sees reactions to a text that is gone.
    func shows(_ text: OperationBooks.Text) -> Bool {
        if text.isRetracted { return retracted == true && body == nil }
        return retracted != true && body == text.body && (edited != nil) == text.isEdited
            && reactions ?? [:] == text.reactions
    }

    /// The messages of a conversation. A text without an id is nobody's here.
    static func all(_ outcome: Kalij.Outcome) throws -> [MessageRecord] {
        try outcome.lines.filter { !$0.contains("\"event\":\"gap\"") }
            .map { try JSONDecoder().decode(MessageRecord.self, from: Data($0.utf8)) }
    }
}
