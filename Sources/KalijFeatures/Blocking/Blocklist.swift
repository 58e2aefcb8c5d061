import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijText
import KalijXML

/// The account's blocklist (XEP-0191): the rows hold the list that the server has last sent. The server discards stanzas of blocked
/// senders. A message that is delivered nevertheless is stored without a notification, and no request of a blocked sender gets a
/// result.
package struct Blocklist {
    let step: Step
    private var rows: BlockedRows { BlockedRows(database: step.database, account: step.account.id) }

    package init(step: Step) { self.step = step }

    /// Whether `jid` is blocked. The account itself never is.
    package func isBlocked(_ jid: JID) throws -> Bool {
        try jid.bare != step.account.jid && rows.isBlocked(jid)
    }

    /// Records the server's abilities, discovered in this session, and requests the list if blocking is supported (section 3.2).
    func didDiscover(isOffered: Bool, takesReports: Bool) throws {
        try rows.set(isOffered: isOffered, takesReports: takesReports)
        if isOffered { try requestList(attempt: 1) }
    }

    /// Requests the list. The server sends pushes only to a client that has requested the list in the session (section 3.2).
    fileprivate func requestList(attempt: Int) throws {
        guard attempt <= EngineLimits.serverAttempts else { return }
        try step.send(
            .request(.get, Element("blocklist", xmlns: BlockingFeature.namespace)),
            then: BlocklistResponse(attempt: attempt), within: EngineLimits.archiveTimeout)
    }

    /// Applies the received list.
    fileprivate func apply(_ iq: Element) throws {
        guard let list = iq.child("blocklist", BlockingFeature.namespace) else { return }
        let new = Set(Self.items(of: list))
        for jid in Set(try rows.all()).subtracting(new).sorted() { try remove(jid) }
        for jid in new.sorted() { try add(jid) }
    }

    /// Applies the change in a push. Only the account's own server may send pushes, on behalf of the account.
    /// - Returns: false if `iq` is not a push.
    func push(_ iq: Element) throws -> Bool {
        guard iq["type"] == "set", iq["from"].map({ JID.received($0) == step.account.jid }) ?? true else {
            return false
        }
        if let block = iq.child("block", BlockingFeature.namespace) {
            for jid in Self.items(of: block) { try add(jid) }
            return true
        }
        guard let unblock = iq.child("unblock", BlockingFeature.namespace) else { return false }
        let jids = Self.items(of: unblock)
        // An empty element unblocks all addresses (section 3.5).
        for jid in unblock.children("item").isEmpty ? try rows.all() : jids { try remove(jid) }
        return true
    }

    func add(_ jid: JID) throws { if try rows.add(jid) { try changed(jid, isBlocked: true) } }
    func remove(_ jid: JID) throws { if try rows.remove(jid) { try changed(jid, isBlocked: false) } }

    /// Emits the event, and marks the conversations for a recount: messages of blocked senders do not count as unread.
    private func changed(_ jid: JID, isBlocked: Bool) throws {
        step.emit(BlockedChanged(jid: jid, isBlocked: isBlocked))
        let conversations = try MessageReader(database: step.database, account: step.account.id).activity().map(
            \.conversation)
        let blocked = jid.bare.description.exact
        for name in conversations where name.exact == blocked || JID.received(name).domain.exact == blocked {
            step.unreadMayDiffer(in: name)
        }
    }

    /// The server's abilities as last discovered; nil if they were never discovered.
    var abilities: (isOffered: Bool, takesReports: Bool)? { get throws { try rows.abilities() } }

    private static func items(of element: Element) -> [JID] {
        element.children("item").compactMap { $0["jid"].map(JID.received) }
    }
}

/// The response to the request for the blocklist.
struct BlocklistResponse: InvalidatableHandler {
    static let name = "blocking.list"
    /// The number of the attempt; nil in a database of an earlier release.
    var attempt: Int?

    /// An error leaves the rows unchanged. A timeout is retried: a request can expire before it is sent, while no process runs.
    func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result(let iq): try Blocklist(step: step).apply(iq)
        case .error: break
        case .timeout: try Blocklist(step: step).requestList(attempt: (attempt ?? 1) + 1)
        }
    }

    /// The next session sends the request again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// An address was blocked or unblocked.
public struct BlockedChanged: EventContent {
    public static let name = "blocked"
    public static let meaning = "An address is blocked, or is no longer, on whatever client."
    public static let keys: [EventKey] = [.address, .blocked]
    /// The address of a user, a client or a server.
    public let jid: JID
    /// Whether the address is blocked now.
    public let isBlocked: Bool
    public var fields: [EventField] {
        [EventField(.address, .text(jid.description)), EventField(.blocked, .flag(isBlocked))]
    }
    public var changed: DirectoryChange.Part? { .init(.contact, jid.bare.description) }
    public var line: PrintedText? { isBlocked ? "\(jid) is blocked" : "\(jid) is not blocked any more" }
    public var isDetail: Bool { true }

    package init(jid: JID, isBlocked: Bool) { (self.jid, self.isBlocked) = (jid, isBlocked) }
}

extension EventKey {
    /// A blocked address.
    public static let address = EventKey("address", "the blocked address: of a person, a client or a server")
    /// Whether the address is blocked.
    public static let blocked = EventKey("blocked", "whether the address is blocked")
}
