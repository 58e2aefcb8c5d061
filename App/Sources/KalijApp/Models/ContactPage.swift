import KalijAddress
import KalijClient

/// A person as the screen of the contact displays it.
public struct ContactPage: Sendable, Equatable {
    public let key: ConversationKey
    public let name: String
    /// The user's own name for the contact; empty for none.
    public let givenName: String
    public let picture: String?
    /// What is known about the contact, in words.
    public let facts: [String]
    public let actions: [ContactAction]
    /// Whether the contact is in the roster.
    public let isContact: Bool
}

/// An action on a contact.
public enum ContactAction: Sendable, Equatable {
    case rename
    /// Adds the address to the contacts.
    case add
    case remove
    /// A choice of notifications.
    case notify(ConversationAction)
    case block
    /// Blocks, and reports to the user's server (XEP-0377).
    case report(Block.Reason)
    case unblock

    public var words: String {
        switch self {
        case .rename: Words.rename
        case .add: Words.addContact
        case .remove: Words.removeContact
        case .notify(let action): action.words
        case .block: Words.block
        case .report(.spam): Words.reportSpam
        case .report(.abuse): Words.reportAbuse
        case .unblock: Words.unblock
        }
    }

    /// The words without the sign of a question that follows.
    public var plain: String { words.withoutEllipsis }

    public var isDestructive: Bool {
        switch self {
        case .remove, .block, .report: true
        case .rename, .add, .notify, .unblock: false
        }
    }

    /// The change that the action makes; nil for ``rename``, which needs a name first.
    /// - Parameter now: milliseconds since 1970.
    public func intent(on jid: JID, now: Int64) -> (any Intent)? {
        switch self {
        case .rename: nil
        case .add: AddContact(jid)
        case .remove: RemoveContact(jid)
        case .notify(let action): action.change(of: jid, now: now)
        case .block: Block(jid)
        case .report(let reason): Block(jid, report: reason)
        case .unblock: Unblock(jid)
        }
    }

    static func all(isContact: Bool, isBlocked: Bool, _ notifications: [ConversationAction]) -> [ContactAction] {
        let own: [ContactAction] = isContact ? [.rename, .remove] : [.add]
        let block: [ContactAction] = isBlocked ? [.unblock] : [.block, .report(.spam), .report(.abuse)]
        return own.filter { !$0.isDestructive } + notifications.map(ContactAction.notify)
            + own.filter(\.isDestructive) + block
    }
}
