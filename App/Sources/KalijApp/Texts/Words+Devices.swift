/// Texts of devices, their keys, and the comparison of keys.
extension Words {
    public static var devicesAndKeys: String { tr("Verify devices and keys") }
    public static var devices: String { tr("Devices") }
    public static var ownDevices: String { tr("Your devices") }
    public static func devices(of name: String) -> String { tr("Devices of {name}", ["name": name]) }
    static var thisDevice: String { tr("This device") }
    static func device(_ id: UInt32) -> String { tr("Device {id}", ["id": "\(id)"]) }
    static var formerDevice: String { tr("A key without a device") }
    static func lastMessage(_ time: String) -> String { tr("last message {time}", ["time": time]) }
    public static func keyDigits(_ digits: String) -> String { tr("key {digits}", ["digits": digits]) }

    // States
    static var verified: String { tr("Verified") }
    static var notVerified: String { tr("Trusted without verification") }
    static var undecided: String { tr("Undecided: receives nothing") }
    static var distrusted: String { tr("Distrusted: receives nothing") }
    static var notMet: String { tr("Not met yet") }
    static var noKeyYet: String { tr("no key yet") }
    static func unused(_ state: String) -> String { tr("No longer used. {state}", ["state": state]) }

    // What a list means
    static var noKeysHere: String {
        tr("This device has no keys yet. They are made when the account is online for the first time")
    }
    static func noDevices(of name: String) -> String {
        tr("No device of {name} with keys for encryption is known yet", ["name": name])
    }
    static var noOtherDevice: String { tr("You use no other device with this account") }
    static var ownDevicesHint: String {
        tr("All these devices can read your messages. Verify each, so that nobody can add one")
    }
    static var verifiedHint: String { tr("A new device receives nothing until you verify it, or trust it") }
    static var blindHint: String {
        tr(
            "Messages go to all these devices, and to new ones. Verify one: then new ones receive nothing until you decide"
        )
    }

    // Actions
    public static var compare: String { tr("Compare …") }
    static var trustUnverified: String { tr("Trust without verification") }
    static var distrust: String { tr("Distrust") }
    static var nameDevice: String { tr("Name this device …") }
    public static var deviceName: String { tr("Name, which others see if both of you use OMEMO 2") }
    static var removeDevice: String { tr("Remove this device …") }
    public static func compareQuestion(_ name: String) -> String { tr("Compare the key of {name}", ["name": name]) }
    public static var compareHint: String {
        tr("Compare all digits with those that the device itself displays: side by side, or read aloud in a call")
    }
    public static var equal: String { tr("All digits are equal") }
    public static var different: String { tr("They differ") }
    public static func removeDeviceQuestion(_ name: String) -> String { tr("Remove {name}?", ["name": name]) }
    public static var removeDeviceHint: String {
        tr("Nobody sends to this device any more. If it is still in use, it adds itself again")
    }

    // Codes
    public static var showCode: String { tr("Show my code") }
    public static var verifyByCode: String { tr("Verify by a code …") }
    public static func codeOf(_ address: String) -> String { tr("Code of {address}", ["address": address]) }
    public static var codeHint: String {
        tr("Others read this code with their camera, or compare the digits below it")
    }
    public static var copyCode: String { tr("Copy") }
    public static var copied: String { tr("Copied") }
    public static func readCodeOf(_ name: String) -> String { tr("Read the code of {name}", ["name": name]) }
    public static var readCodeHint: String { tr("Choose a picture of the code, or paste its text") }
    public static var codeText: String { tr("Text of the code") }
    public static var fromPicture: String { tr("From a picture …") }
    public static var fromClipboard: String { tr("From the clipboard") }
    public static var fromScreen: String { tr("From the screen") }
    public static var verify: String { tr("Verify") }
    static func verified(_ count: Int, of name: String) -> String {
        filled(tr("Verified: {n} device of {name}", "Verified: {n} devices of {name}", count), ["name": name])
    }
    static func codeOfAnother(_ address: String, not name: String) -> String {
        tr("This code belongs to {address}, not to {name}. Nothing was verified", ["address": address, "name": name])
    }
    static var codeOfThisDevice: String { tr("This is the code of this device itself") }
    static func codeWithOtherKey(_ device: UInt32, of name: String) -> String {
        tr(
            "Device {id} of {name} has another key here than in the code. Somebody may read along. Nothing was verified",
            ["id": "\(device)", "name": name])
    }
    public static var keysDiffer: String { tr("The keys differ") }
    static var noCode: String { tr("There is no code with keys in it") }
    public static var notAPicture: String { tr("This is no picture that can be read") }
    public static var emptyClipboard: String { tr("The clipboard has neither a picture nor a text") }
    public static var silentClipboard: String { tr("The program that has copied it does not answer") }
    public static var noScreen: String { tr("The screen could not be read") }

    // Marks of messages
    static var markVerified: String { tr("Encrypted, verified") }
    static var markEncrypted: String { tr("Encrypted") }
    static var markUndecided: String { tr("Encrypted by an undecided device") }
    static var markDistrusted: String { tr("Encrypted by a distrusted device") }
    static var markPlain: String { tr("Not encrypted") }
    static func leftOut(_ count: Int) -> String {
        tr("{n} device cannot read it", "{n} devices cannot read it", count)
    }
    static var meaningVerified: String {
        tr("Only devices of this conversation can read it, and you have verified all that received or wrote it")
    }
    static var meaningEncrypted: String {
        tr("Only devices of this conversation can read it, but some are not verified: one may be a stranger's")
    }
    static var meaningUndecided: String {
        tr("Written by a new device that you have neither verified nor distrusted. Anybody may have written it")
    }
    static var meaningDistrusted: String { tr("Written by a device that you distrust. Anybody may have written it") }
    static var meaningPlain: String { tr("The servers can read it, and can have changed it") }
    static var meaningNoMark: String {
        tr("The conversation is not encrypted: the servers can read every message in it")
    }
    static var meaningLeftOut: String {
        tr("Devices whose keys you distrust, have not decided on, or that could not be fetched")
    }
    public static var marks: String { tr("Encryption explained") }
    /// The table of the marks, with what they mean.
    public static var marksTable: [(mark: String, meaning: String)] {
        Protection.allCases.map { ($0.words, $0.meaning) } + [
            (leftOut(1), meaningLeftOut), (tr("No mark"), meaningNoMark),
        ]
    }
    static var encryptedMessage: String { tr("Encrypted message") }
    static var keylessMessage: String { tr("Nobody has keys yet: cannot be sent") }

    /// What an empty message field displays.
    public static func placeholder(of page: Page) -> String {
        page.isKeyless ? keylessMessage : page.isEncrypted ? encryptedMessage : message
    }

    // Lines of a conversation
    static func newDevices(_ count: Int, of name: String) -> String {
        filled(tr("New device of {name}", "{n} new devices of {name}", count), ["name": name])
    }
    static func newOwnDevices(_ count: Int) -> String {
        tr("New device of your account", "{n} new devices of your account", count)
    }
    static func line(_ devices: String, _ state: DeviceState) -> String {
        switch state {
        case .this, .unknown: devices
        case .verified: tr("{devices}, verified", ["devices": devices])
        case .blind: tr("{devices}, not verified", ["devices": devices])
        case .undecided: tr("{devices}, not verified: nothing is sent there until you decide", ["devices": devices])
        case .distrusted: tr("{devices}, distrusted", ["devices": devices])
        }
    }

    // The question before a message is sent
    public static var undecidedQuestion: String { tr("Who may read this?") }
    public static func undecidedHint(_ devices: String) -> String {
        tr("{devices}, not verified. Until you decide, nothing that you write is sent there", ["devices": devices])
    }
    public static var trustThem: String { tr("Trust and send") }
    public static var distrustThem: String { tr("Send without") }
    public static var lookAtDevices: String { tr("Compare first …") }
    public static func keylessQuestion(_ name: String) -> String {
        tr("{name} has no keys for encrypted messages", ["name": name])
    }
    static var keylessGroupQuestion: String { tr("Nobody else in the group has keys for encrypted messages") }
    public static var keylessHint: String {
        tr(
            "An encrypted message cannot be sent: the other side's program does not encrypt, or has not been connected yet. If you stop encrypting, the servers can read what you write from then on"
        )
    }
    public static var sendPlain: String { tr("Stop encrypting and send") }
    public static var tryEncrypted: String { tr("Try again encrypted") }
    public static var replyWaits: String {
        tr("Your reply is not sent: there are new devices. Send it here, and decide")
    }
    public static var decided: String { tr("The decision on new devices") }
}
