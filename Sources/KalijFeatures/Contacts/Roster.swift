import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

/// The account's roster (RFC 6121 section 2): the rows hold the state that the server has last sent.
///
/// The roster is requested after each bind, never after a resumption. Each response and each push is one step. Only differences are
/// emitted as events.
struct Roster {
    let step: Step
    private var rows: RosterRows { RosterRows(database: step.database, account: step.account.id) }

    static let namespace = "jabber:iq:roster"
    /// The stream feature (RFC 6121 section 2.6.1).
    static let versions = (name: "ver", namespace: "urn:xmpp:features:rosterver")
    /// The maximum length of a kept version, in bytes. Without a version the server sends the whole roster.
    private static let maxVersionLength = 1000

    // MARK: Requesting

    /// Requests the roster in a new session.
    func sessionBegan() throws { try requestRoster(attempt: 1) }

    /// The previous session is lost: the rows may be out of date until the server responds.
    func sessionLost() throws {
        try Requests(step: step).forget(RosterResponse.name, unqueueing: true)
        try SessionRow.set(roster: .unknown, of: step.account.id, in: step.database)
    }

    /// The session is resumed. An earlier version of this software requested the roster only on demand.
    func sessionResumed() throws {
        guard try SessionRow.roster(of: step.account.id, in: step.database) == .unknown,
            try !Requests(step: step).isWaiting([RosterResponse.name])
        else { return }
        try requestRoster(attempt: 1)
    }

    fileprivate func requestRoster(attempt: Int) throws {
        try step.send(question(), then: RosterResponse(attempt: attempt), within: EngineLimits.serverTimeout)
    }

    /// The roster get. A server with roster versioning sends the roster only if it differs from the rows.
    func question() throws -> Element {
        let query = Element("query", xmlns: Self.namespace)
        if try SessionRow.offers(
            Self.versions.name, Self.versions.namespace, to: step.account.id, in: step.database)
        {
            query["ver"] = try rows.version()
        }
        return .request(.get, query)
    }

    // MARK: Responses

    /// Applies the server's response. An empty result means that the rows are current (section 2.6.3).
    func apply(_ iq: Element) throws {
        if let query = iq.child("query", Self.namespace) { try replace(with: query) }
        try settled(.known)
    }

    /// The server provides no roster in this session.
    func unavailable() throws { try settled(.unavailable) }

    /// The request has timed out.
    fileprivate func unanswered(attempt: Int) throws {
        if attempt < EngineLimits.serverAttempts { try requestRoster(attempt: attempt + 1) } else { try unavailable() }
    }

    private func settled(_ knowledge: RosterState) throws {
        try SessionRow.set(roster: knowledge, of: step.account.id, in: step.database)
        try SubscriptionRequests(step: step).rosterChanged()
        try Subscribers(step: step).rosterSettled()
    }

    private func replace(with query: Element) throws {
        var old = Dictionary(try rows.all().map { ($0.jid, $0) }) { $1 }
        for contact in query.children("item").compactMap(Contact.init)
        where old.removeValue(forKey: contact.jid) != contact {
            try changed(contact)
        }
        for contact in old.values.sorted(by: { $0.jid < $1.jid }) { try removed(contact) }
        try keep(version: query["ver"])
    }

    // MARK: Pushes

    /// Applies the change in a roster push (section 2.1.6).
    /// - Returns: false if `iq` is not a push, or not from the account's server.
    func push(_ iq: Element) throws -> Bool {
        guard iq["type"] == "set", let query = iq.child("query", Self.namespace),
            iq["from"].map({ JID.received($0) == step.account.jid }) ?? true
        else { return false }
        for item in query.children("item") {
            guard let contact = Contact(item) else { continue }
            let old = try rows.contact(contact.jid)
            if item["subscription"] == "remove" {
                if let old { try removed(old) }
            } else if old != contact {
                try changed(contact)
            }
        }
        try keep(version: query["ver"])
        try SubscriptionRequests(step: step).rosterChanged()
        return true
    }

    private func changed(_ contact: Contact) throws {
        try rows.store(contact)
        step.emit(ContactChanged(contact: contact, isRemoved: false))
    }

    private func removed(_ contact: Contact) throws {
        try rows.remove(contact.jid)
        try Presences(step: step).removeAll(of: contact.jid)
        try SubscriptionRequests(step: step).forgetApproval(of: contact.jid)
        step.emit(ContactChanged(contact: contact, isRemoved: true))
    }

    /// Records the version of the rows. A push without a version, or with one that exceeds the limit, leaves the rows without a
    /// version.
    private func keep(version: String?) throws {
        let version = version.flatMap { $0.utf8.count <= Self.maxVersionLength ? $0 : nil } ?? ""
        guard try version != rows.version() else { return }
        try rows.set(version: version)
    }
}

/// The response to the roster get.
struct RosterResponse: InvalidatableHandler {
    package static let name = "contacts.roster"
    /// The number of the attempt; nil in a database of an earlier version.
    let attempt: Int?

    func call(_ reply: IQReply, in step: Step) throws {
        let roster = Roster(step: step)
        switch reply {
        case .result(let iq): try roster.apply(iq)
        case .error: try roster.unavailable()
        case .timeout: try roster.unanswered(attempt: attempt ?? 1)
        }
    }

    /// The next session sends the request again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
