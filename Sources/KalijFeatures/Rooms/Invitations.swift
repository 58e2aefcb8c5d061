import KalijAddress
import KalijCore
import KalijStream
import KalijText
import KalijXML

/// Invitations, received and sent. A received invitation is a question to the user, one for each room (XEP-0249 section 4): no other
/// entity makes the account enter a room.
struct Invitations {
    let step: Step
    private var rows: InvitationRows { InvitationRows(database: step.database, account: step.account.id) }

    static let direct = "jabber:x:conference"
    /// The maximum length in bytes of an inviter's reason, which is truncated, and of a password, which is omitted if longer. With
    /// ``EngineLimits/keptRows`` invitations and addresses of at most 3 kB, the invitations of an account take at most 8 MB.
    private static let maxReasonLength = 1000

    // MARK: Received

    /// Whether a message is an invitation. Its text is then a fallback, and not displayed in a conversation.
    static func isMeant(by message: IncomingMessage) -> Bool {
        guard message.type != "groupchat" else { return false }
        if invitation(in: message) != nil { return true }
        // Another client of the account has requested the room to invite.
        return message.direction == .outgoing
            && message.element.child("x", RoomCoordinator.user)?.child("invite") != nil
    }

    /// Handles a message, stored for the first time, that may be an invitation.
    func stored(_ message: IncomingMessage) throws {
        guard message.direction == .incoming, let row = Self.invitation(in: message),
            row.invitation.room != step.account.jid, try !isKnown(row.invitation.room)
        else { return }
        let former = try rows.invitation(to: row.invitation.room)
        // An invitation from a stranger does not displace one from a contact, and strangers of one server do not exclude those of
        // another.
        guard try former != nil || makeRoom(for: row) else { return }
        // The response to a mediated invitation is sent to the room; a direct invitation identifies its sender reliably, and so
        // replaces it.
        guard former == nil || former?.isMediated == true && !row.isMediated else { return }
        try rows.store(row)
        if former == nil { step.emit(InvitationChanged(row.invitation, isClosed: false)) }
    }

    /// - Returns: whether another invitation can be stored.
    private func makeRoom(for row: InvitationRow) throws -> Bool {
        let (all, most) = try rows.counts()
        guard all >= EngineLimits.keptRows else { return true }
        guard try FairShare.isSmaller(rows.count(of: row.domain), than: most),
            let room = try rows.newest(ofThoseWith: most)
        else { return false }
        try close(room)
        return true
    }

    /// Whether the user has joined the room.
    private func isKnown(_ room: JID) throws -> Bool {
        try RoomCoordinator(step: step).rows.room(room)?.isWanted ?? false
    }

    private static func invitation(in message: IncomingMessage) -> InvitationRow? {
        let element = message.element
        if let invite = element.child("x", RoomCoordinator.user)?.child("invite"), message.sender.isBare {
            return row(
                message.sender.description, inviter: invite["from"], invite.child("reason")?.text,
                element.child("x", RoomCoordinator.user)?.child("password")?.text, message, isMediated: true)
        }
        guard let x = element.child("x", direct) else { return nil }
        return row(
            x["jid"] ?? "", inviter: message.sender.bare.description, x["reason"], x["password"], message,
            isMediated: false)
    }

    private static func row(
        _ room: String, inviter: String?, _ reason: String?, _ password: String?, _ message: IncomingMessage,
        isMediated: Bool
    ) -> InvitationRow? {
        guard let room = JID.prepared(room), room.isBare, room.local != nil else { return nil }
        let words = reason.map { $0.cut(to: maxReasonLength) }
        return InvitationRow(
            Invitation(
                room: room, inviter: inviter.flatMap { JID.prepared($0)?.bare },
                reason: words?.isEmpty ?? true ? nil : words,
                at: message.sentAt),
            password: password.flatMap { $0.utf8.count <= maxReasonLength ? $0 : nil }, isMediated: isMediated)
    }

    /// The user has responded to the invitation, or is in the room already.
    /// - Returns: the invitation.
    @discardableResult
    func close(_ room: JID) throws -> InvitationRow? {
        guard let row = try rows.invitation(to: room), try rows.remove(room) else { return nil }
        step.emit(InvitationChanged(row.invitation, isClosed: true))
        return row
    }

    // MARK: Sent

    /// Invites people to a room (XEP-0249), with the delivery guarantee of a message: exactly once each.
    func send(to people: [JID], _ room: JID, reason: String?) throws {
        for jid in people {
            let x = Element("x", xmlns: Self.direct, attributes: ["jid": room.description])
            if let reason { x["reason"] = reason }
            try OutgoingStanza(hidden: [x], to: jid, id: try OutgoingID(nil).text, isRepeatable: true)
                .enqueue(in: step, sentAt: step.now)
        }
    }
}

/// Invites people to a room. In a members-only room, the invited people are made members first.
public struct Invite: RoomIntent {
    public static let name = "invite"
    /// The bare address of the room.
    public let room: String
    /// The bare addresses of the invited people.
    public let people: [String]
    /// A text for the invited people.
    public let reason: String?

    static let maxPeople = 100

    /// - Parameters:
    ///   - room: the address of the room.
    ///   - people: the addresses of the invited people, 100 at most.
    ///   - reason: a text for the invited people.
    public init(_ room: JID, _ people: [JID], reason: String? = nil) {
        (self.room, self.people) = (room.bare.description, people.map(\.bare.description))
        self.reason = reason
    }

    var texts: [String?] { [reason] }

    static func checked(_ people: [String]) throws -> [JID] {
        guard (1...maxPeople).contains(people.count) else {
            throw IntentFailure("between 1 and \(maxPeople) people are invited at once")
        }
        return try people.map { text in
            let jid = try JID(text)
            guard jid.isBare, jid.local != nil else { throw IntentFailure("\(text) is no person's address") }
            return jid
        }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let people = try Self.checked(people)
        let row = try entered(in: step)
        guard row.info.isMembersOnly else {
            try Invitations(step: step).send(to: people, row.jid, reason: reason)
            return .done
        }
        try GrantMembershipRequest(intent: id, row.jid, people, reason: reason).send(in: step)
        return .pending
    }
}

/// Makes the invited people members, one request each, because a room may evaluate only the first item of a request (measured:
/// Prosody). Then invites them. If the account may not grant membership, the room is requested to send the invitations.
struct GrantMembershipRequest: IntentRequest {
    static let name = "rooms.invited"
    let intent: String
    var attempt = 1
    let room: String
    let people: [String]
    /// The number of people who are members by now.
    var count = 0
    let reason: String?

    init(intent: String, _ room: JID, _ people: [JID], reason: String?) {
        (self.intent, self.room, self.people) = (intent, room.description, people.map(\.description))
        self.reason = reason
    }

    func request(in step: Step) -> Element { Self.request(to: room, for: people[count]) }

    static func request(to room: String, for person: String) -> Element {
        let admin = RoomCoordinator.namespace + "#admin"
        let item = Element("item", xmlns: admin, attributes: ["affiliation": "member", "jid": person])
        return .request(.set, Element("query", xmlns: admin, children: [item]), to: JID.received(room))
    }

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        let members = try RoomCoordinator(step: step).rows.room(JID.received(room)).map {
            Members(step: step, room: $0)
        }
        try members?.confirmed([people[count]], "member")
        var next = self
        (next.count, next.attempt) = (count + 1, 1)
        if next.count < people.count {
            try next.send(in: step)
            return .pending
        }
        try Invitations(step: step).send(to: people.map(JID.received), JID.received(room), reason: reason)
        try members?.queryLists()
        return .done
    }

    /// Where members may invite, the room sends the invitations (XEP-0045 section 7.8.2).
    func outcome(of error: StanzaError, in step: Step) throws -> IntentOutcome {
        guard error.condition == .forbidden || error.condition == .notAllowed else {
            return RoomAdminRequest.failure(error, room)
        }
        let x = Element("x", xmlns: RoomCoordinator.user)
        for jid in people {
            let invite = Element("invite", xmlns: RoomCoordinator.user, attributes: ["to": jid])
            if let reason { invite.add(Element("reason", xmlns: RoomCoordinator.user, text: reason)) }
            x.add(invite)
        }
        try step.send(
            Element("message", xmlns: "jabber:client", attributes: ["to": room, "id": intent], children: [x]))
        try MediatedInviteRequest(intent: intent, room: room).send(in: step)
        return .pending
    }
}

/// The room was requested to invite. A self-ping follows: its response ends the wait for an error, which would fail the intent.
struct MediatedInviteRequest: IntentRequest {
    static let name = "rooms.mediated"
    let intent: String
    var attempt = 1
    let room: String

    func request(in step: Step) throws -> Element {
        let held = try RoomCoordinator(step: step).rows.room(JID.received(room))?.held ?? ""
        return .request(.get, Element("ping", xmlns: "urn:xmpp:ping"), to: JID.received("\(room)/\(held)"))
    }

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome { .done }
}

/// Declines an invitation to a room (XEP-0045 section 7.8.2).
public struct DeclineInvitation: Intent {
    public static let name = "decline"
    /// The bare address of the room.
    public let room: String

    /// - Parameter room: the address of the room.
    public init(_ room: JID) { self.room = room.bare.description }

    public func check() throws { _ = try JID(room) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        guard let row = try Invitations(step: step).close(try JID(room)) else {
            throw IntentFailure(Reason(.notInvited, room))
        }
        // No response to a direct invitation is defined.
        guard row.isMediated, let inviter = row.invitation.inviter else { return .done }
        let decline = Element("decline", xmlns: RoomCoordinator.user, attributes: ["to": inviter.description])
        try step.send(
            Element(
                "message", xmlns: "jabber:client", attributes: ["to": room, "id": id],
                children: [Element("x", xmlns: RoomCoordinator.user, children: [decline])]))
        return .done
    }
}
