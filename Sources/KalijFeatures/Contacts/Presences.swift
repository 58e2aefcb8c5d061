import KalijAddress
import KalijCore
import KalijText
import KalijXML

/// The presence of contacts and of the account's other clients (RFC 6121 section 4). The rows belong to the session: they survive a
/// resumption, and a new session begins without them. No persistent state is derived from presence.
struct Presences {
    let step: Step
    private var rows: PresenceRows { PresenceRows(database: step.database, account: step.account.id) }

    /// The maximum number of clients kept for a contact, more than any contact has.
    private static let maxClients: Int64 = 50

    /// Handles a presence without a type, or of type `unavailable`. Presence of entities outside the roster is ignored.
    func received(_ presence: Element) throws {
        guard let from = presence["from"].map(JID.received), from.isPrepared, try isOfInterest(from) else { return }
        if presence["type"] == "unavailable" { return try removeClients(from, presence) }
        let new = ContactPresence(from, presence)
        guard !from.isBare, try new != rows.load(from) else { return }
        try rows.store(new, most: Self.maxClients)
        step.emit(PresenceChanged(presence: new))
    }

    /// Whether `jid` is a client of a contact, or another client of the account.
    private func isOfInterest(_ jid: JID) throws -> Bool {
        if jid.bare == step.account.jid {
            return try SessionRow.load(step.account.id, from: step.database).jid != jid.description
        }
        return try RosterRows(database: step.database, account: step.account.id).contact(jid) != nil
    }

    /// A bare address stands for all clients (section 4.3.2: the response to a probe).
    private func removeClients(_ jid: JID, _ presence: Element) throws {
        let gone = try jid.isBare ? rows.clients(of: jid) : [rows.load(jid)].compactMap { $0 }
        for client in gone {
            try rows.remove(client.jid)
            step.emit(PresenceChanged(presence: ContactPresence(client.jid, presence)))
        }
    }

    /// A contact was removed.
    func removeAll(of contact: JID) throws { try rows.removeAll(of: contact) }

    /// The previous session is lost: the server sends the current presence in the new session.
    func sessionLost() throws { try rows.removeAll() }
}

extension ContactPresence {
    /// The maximum length of a kept status text, in bytes.
    private static let maxStatusLength = 1000

    /// Reads a presence without a type, or of type `unavailable`.
    fileprivate init(_ jid: JID, _ presence: Element) {
        let show = presence.child("show", "jabber:client")?.text ?? ""
        let isGone = presence["type"] == "unavailable"
        self.init(
            jid: jid, show: isGone ? "offline" : ["away", "chat", "dnd", "xa"].contains(show) ? show : "online",
            status: presence.childInOwnLanguage("status", "jabber:client").flatMap { Self.truncatedText($0.text) },
            priority: isGone ? 0 : Self.priority(presence.child("priority", "jabber:client")?.text))
    }

    /// An invalid priority counts as 0 (section 4.7.2.3).
    private static func priority(_ text: String?) -> Int {
        text.flatMap { Int8($0) }.map { Int($0) } ?? 0  // fits: from Int8
    }

    private static func truncatedText(_ text: String) -> String? { text.isEmpty ? nil : text.cut(to: maxStatusLength) }
}
