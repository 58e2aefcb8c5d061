import KalijAddress
import KalijCore
import KalijXML

/// Adds a contact, or changes the name and the groups of a contact. Requests a subscription to the contact's presence, and approves
/// the contact's subscription to the account's presence in advance (RFC 6121 sections 2.3, 3.1 and 3.4).
public struct AddContact: Intent {
    public static let name = "add"
    /// The bare address of the contact.
    public let jid: JID
    /// The name; nil leaves the name as it is.
    public let contactName: String?
    /// The groups; nil leaves the groups as they are.
    public let groups: [String]?
    /// The token of an invitation by the contact (XEP-0379); nil without one.
    public let preauth: String?

    private enum CodingKeys: String, CodingKey {
        case jid = "contact"
        case contactName = "name"
        case groups, preauth
    }

    /// - Parameters:
    ///   - jid: the bare address of the contact.
    ///   - name: the user's name for the contact; nil leaves the name as it is.
    ///   - groups: the user's groups with the contact; nil leaves the groups as they are.
    ///   - preauth: the token of an invitation by the contact, whose client or server then approves the request (XEP-0379).
    public init(_ jid: JID, name: String? = nil, groups: [String]? = nil, preauth: String? = nil) {
        (self.jid, contactName, self.groups, self.preauth) = (jid, name, groups, preauth)
    }

    public func check() throws {
        try jid.checkContact()
        for text in [contactName ?? "", preauth ?? ""] + (groups ?? []) {
            guard text.utf8.count <= 1023 else { throw IntentFailure("a name may have 1,023 bytes") }
            guard text.unicodeScalars.allSatisfy(\.isXML) else {
                throw IntentFailure("a name has characters that XML does not allow")
            }
        }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        guard jid != step.account.jid else { throw IntentFailure("\(jid) is the account itself") }
        try SubscriptionRequests(step: step).approve(jid)
        try AddContactRequest(
            intent: id, jid, name: contactName, groups: groups, preauth: preauth,
            isLooking: contactName == nil || groups == nil
        ).send(in: step)
        return .pending
    }
}

/// Removes a contact, and with the contact both subscriptions (RFC 6121 section 2.5).
public struct RemoveContact: Intent {
    public static let name = "remove"
    /// The bare address of the contact.
    public let jid: JID

    private enum CodingKeys: String, CodingKey { case jid = "contact" }

    /// - Parameter jid: the bare address of the contact.
    public init(_ jid: JID) { self.jid = jid }

    public func check() throws { try jid.checkContact() }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try SubscriptionRequests(step: step).forgetApproval(of: jid)
        try PendingSubscriptions(step: step).forget(jid)
        try RemoveContactRequest(intent: id, jid).send(in: step)
        return .pending
    }
}

/// Approves a pending subscription request: the requester sees the account's presence (RFC 6121 section 3.1.4).
public struct AcceptRequest: Intent {
    public static let name = "accept"
    /// The bare address of the requester.
    public let jid: JID

    private enum CodingKeys: String, CodingKey { case jid = "contact" }

    /// - Parameter jid: the bare address of the requester.
    public init(_ jid: JID) { self.jid = jid }

    public func check() throws { try jid.checkContact() }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try SubscriptionRequests(step: step).answer(jid, .subscribed, intent: id)
        return .pending
    }
}

/// Denies a pending subscription request: the requester does not see the account's presence (RFC 6121 section 3.2).
public struct DenyRequest: Intent {
    public static let name = "deny"
    /// The bare address of the requester.
    public let jid: JID

    private enum CodingKeys: String, CodingKey { case jid = "contact" }

    /// - Parameter jid: the bare address of the requester.
    public init(_ jid: JID) { self.jid = jid }

    public func check() throws { try jid.checkContact() }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try SubscriptionRequests(step: step).answer(jid, .unsubscribed, intent: id)
        return .pending
    }
}

extension JID {
    /// - Throws: `IntentFailure` unless it is the bare address of a possible contact.
    fileprivate func checkContact() throws {
        guard isPrepared else { throw IntentFailure("\(self) is no address") }
        guard isBare else { throw IntentFailure("a contact has an address without a resource: \(bare)") }
    }
}

/// The response to a roster set that adds or changes a contact. A name or groups that the user has not specified are taken from the
/// roster, which another client may have changed in the meantime: the roster is requested first (`isLooking`). With roster versioning
/// the response to that request is short.
struct AddContactRequest: IntentRequest {
    static let name = "contacts.added"
    let intent: String
    var attempt = 1
    let jid: JID
    let contactName: String?
    let groups: [String]?
    let preauth: String?
    let isLooking: Bool

    init(intent: String, _ jid: JID, name: String?, groups: [String]?, preauth: String?, isLooking: Bool) {
        (self.intent, self.jid, contactName, self.groups) = (intent, jid, name, groups)
        (self.preauth, self.isLooking) = (preauth, isLooking)
    }

    func request(in step: Step) throws -> Element {
        guard !isLooking else { return try Roster(step: step).question() }
        let item = Element("item", xmlns: Roster.namespace, attributes: ["jid": jid.description])
        item["name"] = contactName
        for group in groups ?? [] { item.add(Element("group", xmlns: Roster.namespace, text: group)) }
        return .request(.set, Element("query", xmlns: Roster.namespace, children: [item]))
    }

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        if isLooking, let result { try Roster(step: step).apply(result) }
        let contact = try RosterRows(database: step.database, account: step.account.id).contact(jid)
        guard !isLooking else {
            try AddContactRequest(
                intent: intent, jid, name: contactName ?? contact?.name, groups: groups ?? contact?.groups,
                preauth: preauth, isLooking: false
            ).send(in: step)
            return .pending
        }
        if !(contact?.subscription.isTo ?? false) {
            try PendingSubscriptions(step: step).send(.subscribe, to: jid, preauth: preauth)
        }
        if !(contact?.subscription.isFrom ?? false) { try SubscriptionRequests(step: step).added(jid) }
        return .done
    }

    func refused(in step: Step) throws { try SubscriptionRequests(step: step).forgetApproval(of: jid) }
}

/// The response to a roster set that removes a contact.
struct RemoveContactRequest: IntentRequest {
    static let name = "contacts.removed"
    let intent: String
    var attempt = 1
    let jid: JID

    init(intent: String, _ jid: JID) { (self.intent, self.jid) = (intent, jid) }

    func request(in step: Step) -> Element {
        let item = Element(
            "item", xmlns: Roster.namespace, attributes: ["jid": jid.description, "subscription": "remove"])
        return .request(.set, Element("query", xmlns: Roster.namespace, children: [item]))
    }

    func done(_ result: Element?, in step: Step) -> IntentOutcome { .done }
}
