import KalijAddress
import KalijCore
import KalijStream
import KalijText
import KalijXML

/// Incoming requests to subscribe to the account's presence (RFC 6121 section 3.1.3). A request is a row until it is answered, so one
/// event is emitted for it, although the server redelivers the request at each login. No request is approved without the user.
struct SubscriptionRequests {
    let step: Step
    private var rows: RequestRows { RequestRows(database: step.database, account: step.account.id) }
    private var pending: PendingSubscriptions { PendingSubscriptions(step: step) }

    /// The stream feature of subscription pre-approval (section 3.4).
    static let preapproval = (name: "sub", namespace: "urn:xmpp:features:pre-approval")
    /// For an address that is approved, and repeats its request.
    static let pace = RequestPace(5, atOnceThen: .seconds(60), upTo: .seconds(3600))
    /// The maximum length of a kept status text of a request, in bytes. With ``EngineLimits/keptRows`` requests and addresses of at most 3
    /// kB the requests of an account take 4 MB at most.
    private static let maxStatusLength = 1000

    // MARK: Requests of others

    /// Handles a subscription request. When the table is full, a request without a place is not stored: the server redelivers it at
    /// the next login. The places are shared among domains (``FairShare``), so requests from one domain cannot displace or exclude
    /// those from another.
    func received(_ presence: Element) throws {
        guard let jid = presence["from"].map({ JID.received($0).bare }), jid.isPrepared, jid != step.account.jid,
            try !Blocklist(step: step).isBlocked(jid), try !pending.isAnswered(jid), try !isGranted(jid),
            try rows.request(of: jid) == nil
        else { return }
        if try rows.isApproved(jid) {
            // The server redelivers an unanswered request at the next login.
            let (pacing, key) = (Pacing(step: step), jid.description)
            guard try pacing.wait(SubscriptionTimer.name, key, Self.pace) == 0 else { return }
            try pacing.acquire(SubscriptionTimer.name, key, Self.pace)
            return try pending.send(.subscribed, to: jid)
        }
        guard try makeRoom(for: jid) else { return }
        let status = presence.childInOwnLanguage("status", "jabber:client")?.text ?? ""
        let request = ContactRequest(
            jid: jid, status: status.isEmpty ? nil : status.cut(to: Self.maxStatusLength), at: step.now)
        try rows.store(request)
        step.emit(RequestChanged(request: request, isClosed: false))
    }

    /// Frees a place for a request of `jid` if the table is full.
    /// - Returns: whether there is a place.
    private func makeRoom(for jid: JID) throws -> Bool {
        guard try rows.count() >= EngineLimits.keptRows else { return true }
        let askers = try rows.requesters()
        guard let leaving = FairShare.leaving(askers.map(\.domain), for: jid.domain) else { return false }
        try close(askers[leaving])
        return true
    }

    /// The requester has withdrawn the request (section 3.3.3).
    func withdrawn(_ presence: Element) throws {
        if let jid = presence["from"].map({ JID.received($0).bare }) { try close(jid) }
    }

    /// Whether `jid` is subscribed to the account's presence. In a new session the rows may be out of date.
    private func isGranted(_ jid: JID) throws -> Bool {
        guard try SessionRow.roster(of: step.account.id, in: step.database) == .known else { return false }
        return try RosterRows(database: step.database, account: step.account.id).contact(jid)?.subscription.isFrom
            ?? false
    }

    /// The roster has changed: another client may have answered a request.
    func rosterChanged() throws {
        for request in try rows.removeGranted() { step.emit(RequestChanged(request: request, isClosed: true)) }
        try rows.removeUsedApprovals()
    }

    // MARK: Actions of the user

    /// Answers a request.
    /// - Parameter intent: the id of the intent that ends with the answer.
    /// - Throws: `IntentFailure` if there is no such request.
    func answer(_ jid: JID, _ type: SubscriptionType, intent: String) throws {
        guard try rows.request(of: jid.bare) != nil else {
            throw IntentFailure("\(jid.bare) has not asked to see when you are online")
        }
        try close(jid.bare)
        if type == .unsubscribed { try rows.removeApproval(of: jid.bare) }
        try pending.send(type, to: jid.bare, intent: intent)
    }

    /// Records that the user has added `jid` as a contact, and approves a subscription of `jid` in advance.
    func approve(_ jid: JID) throws { try rows.approve(jid) }

    /// `jid` is in the roster now: answers a pending request of `jid`, or sends a pre-approval if the server supports it.
    func added(_ jid: JID) throws {
        guard try rows.isApproved(jid) else { return }
        let isOffered = try SessionRow.offers(
            Self.preapproval.name, Self.preapproval.namespace, to: step.account.id, in: step.database)
        guard try rows.request(of: jid) != nil || isOffered else { return }
        try close(jid)
        try pending.send(.subscribed, to: jid)
    }

    /// Revokes the advance approval of `jid`.
    func forgetApproval(of jid: JID) throws { try rows.removeApproval(of: jid) }

    private func close(_ jid: JID) throws {
        guard let request = try rows.request(of: jid) else { return }
        try rows.remove(jid)
        step.emit(RequestChanged(request: request, isClosed: true))
    }
}
