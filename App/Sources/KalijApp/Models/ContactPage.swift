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
    public let notifications: NotificationChoice
    /// Whether the contact is in the roster.
    public let isContact: Bool

    /// What a screen reader says when the contact is opened, before the button with the focus.
    public var spoken: String { ([name] + facts).joined(separator: ", ") }
}

/// An action on a contact.
public enum ContactAction: Sendable, Equatable {
    case rename
    /// Adds the address to the contacts.
    case add
    case remove
    /// Opens the devices of the contact.
    case devices
    /// Encrypts the user's messages, or no longer.
    case encrypt(Bool)
    /// Chooses which messages cause notifications.
    case notifications
    case block
    /// Blocks, and reports to the user's server (XEP-0377).
    case report(Block.Reason)
    case unblock

    public var words: String {
        switch self {
        case .rename: Words.rename
        case .add: Words.addContact
        case .remove: Words.removeContact
        case .devices: Words.devicesAndKeys
        case .encrypt(let isOn): isOn ? Words.encryptMessages : Words.stopEncrypting
        case .notifications: Words.notifications("")
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
        case .remove, .block, .report, .encrypt(false): true
        case .rename, .add, .devices, .encrypt, .notifications, .unblock: false
        }
    }

    /// The change that the action makes; nil for ``devices`` and ``notifications``, and for ``rename``, which needs a name first.
    public func intent(on jid: JID) -> (any Intent)? {
        switch self {
        case .rename, .devices, .notifications: nil
        case .add: AddContact(jid)
        case .remove: RemoveContact(jid)
        case .encrypt(let isOn): EncryptConversation(jid, isOn)
        case .block: Block(jid)
        case .report(let reason): Block(jid, report: reason)
        case .unblock: Unblock(jid)
        }
    }

    /// - Parameter isWaiting: whether the other side no longer wants encryption, and messages wait until the user decides.
    static func encryption(isOn: Bool, isWaiting: Bool) -> [ContactAction] {
        isOn ? (isWaiting ? [.encrypt(true)] : []) + [.encrypt(false)] : [.encrypt(true)]
    }

    static func all(isContact: Bool, isBlocked: Bool, _ encryption: [ContactAction]) -> [ContactAction] {
        let own: [ContactAction] = isContact ? [.rename, .remove] : [.add]
        let block: [ContactAction] = isBlocked ? [.unblock] : [.block, .report(.spam), .report(.abuse)]
        return own.filter { !$0.isDestructive } + [.devices] + encryption + [.notifications]
            + own.filter(\.isDestructive) + block
    }
}
