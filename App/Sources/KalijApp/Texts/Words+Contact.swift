import KalijClient

/// Texts of the screen of a contact.
extension Words {
    public static var contact: String { tr("Contact") }
    public static var contactName: String { tr("Name") }
    public static var addContact: String { tr("Add to the contacts") }
    public static var removeContact: String { tr("Remove from the contacts …") }
    public static var block: String { tr("Block …") }
    public static var unblock: String { tr("Unblock") }
    public static var reportSpam: String { tr("Block and report as spam …") }
    public static var reportAbuse: String { tr("Block and report as abuse …") }
    public static var isBlocked: String { tr("Blocked: neither messages nor your presence pass") }

    static var encryptMessages: String { tr("Encrypt messages") }
    static var stopEncrypting: String { tr("Stop encrypting messages …") }
    static var areEncrypted: String { tr("Your messages are encrypted") }
    static var encryptionRefused: String {
        tr("The other side no longer wants encryption: your messages wait until you decide")
    }
    static func cannotBeEncrypted(_ name: String) -> String {
        tr("{name} has no keys for encrypted messages yet: what you write cannot be sent", ["name": name])
    }
    static var nobodyCanBeEncrypted: String {
        tr("Nobody else in the group has keys for encrypted messages yet: what you write cannot be sent")
    }
    static func encryptedWithout(_ names: String) -> String {
        tr("Your messages are encrypted. Have no keys yet, and cannot read them: {names}", ["names": names])
    }
    static var areNotEncrypted: String { tr("Your messages are not encrypted") }

    static func encryption(_ outcome: EncryptionOutcome?) -> String {
        switch outcome {
        case nil: areNotEncrypted
        case .keyless(let words)?: words
        case .pending?, .done?: areEncrypted
        }
    }

    static func subscription(_ contact: Contact?) -> String {
        guard let contact else { return tr("Not among your contacts") }
        switch contact.subscription {
        case .both: return tr("You see each other online")
        case .to: return tr("You see this contact online")
        case .from: return tr("This contact sees you online")
        case .none:
            return contact.isAsked ? tr("The contact has not answered yet") : tr("You do not see each other online")
        }
    }

    static func presence(_ show: String) -> String {
        switch show {
        case "away", "xa": tr("Away")
        case "dnd": tr("Do not disturb")
        case "offline": tr("Offline")
        default: tr("Online")
        }
    }

    /// The question before an action, its explanation and its button.
    public static func question(_ action: ContactAction, _ name: String) -> (
        heading: String, hint: String, button: String
    ) {
        switch action {
        case .remove:
            (
                tr("Remove {name} from your contacts?", ["name": name]),
                tr("You no longer see each other online. The messages stay."), remove
            )
        case .report:
            (
                tr("Block and report {name}?", ["name": name]),
                tr("Your server receives the address. Neither messages nor your presence pass any more."),
                tr("Block and report")
            )
        case .encrypt:
            (
                tr("Stop encrypting messages to {name}?", ["name": name]),
                tr("The servers can then read what you write from now on."), tr("Stop encrypting")
            )
        default:
            (
                tr("Block {name}?", ["name": name]),
                tr("Neither messages nor your presence pass any more."), tr("Block")
            )
        }
    }
}
