import KalijAddress
import KalijSteps
import KalijText
import KalijXML

/// An entry of the account's roster (RFC 6121 section 2.1).
public struct Contact: Sendable, Equatable {
    /// Who may see whose presence (RFC 6121 section 2.1.2.5).
    public enum Subscription: String, Sendable, Codable {
        /// Nobody.
        case none
        /// The account sees the contact's presence.
        case to
        /// The contact sees the account's presence.
        case from
        /// Both.
        case both

        /// Whether the account sees the contact's presence.
        public var isTo: Bool { self == .to || self == .both }
        /// Whether the contact sees the account's presence.
        public var isFrom: Bool { self == .from || self == .both }
    }

    /// The contact's bare address.
    public let jid: JID
    /// The name that the user has given the contact; nil for none.
    public let name: String?
    /// The user's groups with the contact, sorted.
    public let groups: [String]
    /// Who may see whose presence.
    public let subscription: Subscription
    /// Whether the account has asked for the contact's presence, and has no answer yet (section 3.1.2).
    public let isAsked: Bool
    /// Whether the server will let the contact see the account's presence without asking the user (section 3.4).
    public let isApproved: Bool

    package init(
        _ jid: JID, name: String? = nil, groups: [String] = [], subscription: Subscription = .none,
        isAsked: Bool = false, isApproved: Bool = false
    ) {
        self.jid = jid.bare
        self.name = name.flatMap { $0.isEmpty ? nil : $0 }
        self.groups = Set(groups.filter { !$0.isEmpty }.map(\.exact)).sorted().map(\.text)
        (self.subscription, self.isAsked, self.isApproved) = (subscription, isAsked, isApproved)
    }

    /// Reads an `<item/>` of the roster; nil without an address.
    package init?(_ item: Element) {
        guard let jid = item["jid"] else { return nil }
        self.init(
            .received(jid), name: item["name"], groups: item.children("group").map(\.text),
            subscription: item["subscription"].flatMap(Subscription.init(rawValue:)) ?? .none,
            isAsked: item["ask"] == "subscribe", isApproved: ["true", "1"].contains(item["approved"]))
    }

    /// For JSON, in events and in lists.
    package var fields: [EventField] {
        .present(
            EventField(.contact, .text(jid.description)), .optional(.name, name),
            groups.isEmpty ? nil : EventField(.groups, .texts(groups)),
            EventField(.subscription, .text(subscription.rawValue)),
            isAsked ? EventField(.asked, .flag(true)) : nil, isApproved ? EventField(.approved, .flag(true)) : nil)
    }
}

/// The presence of one of a contact's clients (RFC 6121 section 4.7), in the present session.
public struct ContactPresence: Sendable, Equatable {
    /// The full address of the client.
    public let jid: JID
    /// `online`, `away`, `chat`, `dnd`, `xa`; `offline` if the client has gone.
    public let show: String
    /// The words of the contact; nil for none.
    public let status: String?
    /// From -128 to 127.
    public let priority: Int

    /// For JSON, in events and in lists.
    package var fields: [EventField] {
        .present(
            EventField(.from, .text(jid.description)), EventField(.show, .text(show)), .optional(.status, status),
            show == "offline" ? nil : EventField(.priority, .integer(Int64(priority))))
    }
}

/// Somebody wants to see the account's presence (RFC 6121 section 3.1), and the user has not answered yet.
public struct ContactRequest: Sendable, Equatable {
    /// The bare address of the asker.
    public let jid: JID
    /// The words of the asker; nil for none.
    public let status: String?
    /// When the request came here first, in milliseconds since 1970.
    public let at: Int64

    /// For JSON, in events and in lists.
    package var fields: [EventField] {
        .present(EventField(.contact, .text(jid.description)), .optional(.status, status))
    }
}
