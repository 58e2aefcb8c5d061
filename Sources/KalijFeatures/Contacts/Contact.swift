import KalijAddress
import KalijCore
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
    /// Whether a subscription request of the account is pending: sent, without an answer of the contact (section 3.1.2).
    public let isAsked: Bool
    /// Whether the server approves the contact's subscription request without the user: a pre-approval (section 3.4).
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

    /// Parses an `<item/>` of the roster; nil if it has no address.
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

/// The presence of one of a contact's clients (RFC 6121 section 4.7) in the current session.
public struct ContactPresence: Sendable, Equatable {
    /// The full address of the client.
    public let jid: JID
    /// `online`, `away`, `chat`, `dnd` or `xa`; `offline` if the client is no longer available.
    public let show: String
    /// The status text of the contact; nil if there is none.
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

/// A pending request to subscribe to the account's presence (RFC 6121 section 3.1), which the user has not answered yet.
public struct ContactRequest: Sendable, Equatable {
    /// The bare address of the requester.
    public let jid: JID
    /// The status text of the request; nil if there is none.
    public let status: String?
    /// When the request was first received, in milliseconds since 1970.
    public let at: Int64

    /// For JSON, in events and in lists.
    package var fields: [EventField] {
        .present(EventField(.contact, .text(jid.description)), .optional(.status, status))
    }
}
