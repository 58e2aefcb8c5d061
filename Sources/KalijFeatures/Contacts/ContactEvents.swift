import KalijCore
import KalijText

extension EventKey {
    /// The bare address of a contact, or of a requester.
    public static let contact = EventKey(
        "contact", "the bare address of a contact, of somebody who asks to be one, or of the account itself")
    /// The name given by the user.
    public static let name = EventKey("name", "the name that the user has given the contact")
    /// The user's groups with the contact.
    public static let groups = EventKey("groups", "the user's groups with the contact")
    /// Who may see whose presence.
    public static let subscription = EventKey(
        "subscription", "who may see whose presence: `none`, `to`, `from` or `both` (RFC 6121 2.1.2.5)")
    /// True if a subscription request of the account is pending.
    public static let asked = EventKey("asked", "true if the contact has not answered the account's request yet")
    /// True if the contact's subscription request is pre-approved.
    public static let approved = EventKey("approved", "true if the contact's request is approved before it comes")
    /// The availability of a client.
    public static let show = EventKey("show", "how available: `online`, `away`, `chat`, `dnd`, `xa` or `offline`")
    /// The status text of a contact or requester.
    public static let status = EventKey("status", "the words of the contact, or of somebody who asks to be one")
    /// The priority of a client.
    public static let priority = EventKey("priority", "the priority of a client, from -128 to 127 (RFC 6121 4.7.2.3)")
    /// True if a request no longer requires an answer.
    public static let closed = EventKey("closed", "true if the request was answered, or taken back")
}

/// A contact was added, changed or removed.
public struct ContactChanged: EventContent {
    public static let name = "contact"
    public static let meaning = "A contact is new, or was changed or removed, on whatever client."
    public static let keys: [EventKey] = [
        .contact, .name, .groups, .subscription, .asked, .approved, .removed,
    ]
    /// The contact; after a removal, its last state.
    public let contact: Contact
    /// Whether the contact was removed.
    public let isRemoved: Bool
    public var fields: [EventField] {
        isRemoved
            ? [EventField(.contact, .text(contact.jid.description)), EventField(.removed, .flag(true))]
            : contact.fields
    }
    public var changed: DirectoryChange.Part? { .init(.contact, contact.jid.description) }
    public var line: PrintedText? {
        isRemoved ? "contact \(contact.jid) removed" : "contact \(contact.line)"
    }
    public var isDetail: Bool { true }
}

/// The presence of a contact's client has changed.
public struct PresenceChanged: EventContent {
    public static let name = "presence"
    public static let meaning = "A client of a contact's, or another client of the account, has come, changed or gone."
    public static let keys: [EventKey] = [.from, .show, .status, .priority]
    /// The new presence.
    public let presence: ContactPresence
    public var fields: [EventField] { presence.fields }
    public var changed: DirectoryChange.Part? { .init(.contact, presence.jid.bare.description) }
    public var line: PrintedText? { presence.line }
    public var isDetail: Bool { true }
}

/// A request to subscribe to the account's presence was received, or no longer requires an answer.
public struct RequestChanged: EventContent {
    public static let name = "request"
    public static let meaning =
        "Somebody asks to see the account's presence: `kalij accept` or `deny` answers. Told once, and once more with `closed`."
    public static let keys: [EventKey] = [.contact, .status, .closed]
    /// The request.
    public let request: ContactRequest
    /// Whether the request was answered, on this client or another, or was withdrawn.
    public let isClosed: Bool
    public var fields: [EventField] {
        request.fields + (isClosed ? [EventField(.closed, .flag(true))] : [])
    }
    public var changed: DirectoryChange.Part? { .init(.request, request.jid.description) }
    public var line: PrintedText? {
        isClosed ? "the request of \(request.jid) is closed" : "request: \(request.line)"
    }
    public var isDetail: Bool { isClosed }

    package init(request: ContactRequest, isClosed: Bool) { (self.request, self.isClosed) = (request, isClosed) }
}

extension Contact {
    /// The line for human readers.
    public var line: PrintedText {
        var line: PrintedText = "\(jid)"
        if let name { line += " \"\(name)\"" }
        if !groups.isEmpty { line += " (\(groups.joined(separator: ", ")))" }
        line += " \(subscription.rawValue)"
        if isAsked { line += ", asked" }
        if isApproved { line += ", approved" }
        return line
    }
}

extension ContactPresence {
    /// The line for human readers.
    public var line: PrintedText { "\(jid) is \(show)\(status.map { ": \($0)" } ?? "")" }
}

extension ContactRequest {
    /// The line for human readers.
    public var line: PrintedText { "\(jid) asks to see when you are online\(status.map { ": \($0)" } ?? "")" }
}
