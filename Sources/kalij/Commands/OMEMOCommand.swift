import KalijAddress
import KalijClient
import KalijText

enum OMEMOCommand: Command {
    static let name = "omemo"
    static let usage =
        """
        [status | fingerprints [JID] | uri | verify URI | trust JID FINGERPRINT | distrust JID FINGERPRINT | on JID | off JID | \
        heal JID [DEVICE] | remove DEVICE | name NAME | version2 on | version2 off | reset] [--account JID]
        """
    static let summary = "encrypt conversations end to end, and compare keys"
    static let details = """
        End-to-end encryption (OMEMO, XEP-0384). A conversation is encrypted from `on` or from the first encrypted message on, and
        never plain again by itself. A message that cannot be encrypted fails with a reason, and is not sent; `kalij send --plain`
        sends a text as it is. Groups are encrypted, other rooms are not. Only the text is secret: who writes to whom and when,
        receipts and markers are not. Between devices that both use version 2 of OMEMO, corrections and answers are secret, too;
        `version2 on` has this device use version 2 besides 0.3.

        Until you have compared a key of an address, all its keys are trusted blindly. Afterwards a new key gets nothing until you
        decide. Your own devices are no exception: until you compare one, your server can add others.

          status                 prints this device, its key, and the encrypted conversations; exit status 1 if the keys are not
                                 published
          fingerprints [JID]     prints the keys of JID, or of everybody; exit status 1 if there are none
          uri                    prints the address with the key of this device, for a code that others scan
          verify URI             trusts the keys in such an address, because you have compared them
          trust JID FINGERPRINT  trusts a key, because you have compared it
          distrust JID FINGERPRINT
                                 gives nothing to a key any more
          on JID, off JID        encrypts the conversation with JID, or not
          heal JID [DEVICE]      begins new sessions, if JID's messages cannot be read, or JID cannot read yours
          remove DEVICE          removes another device of the account, for which nobody encrypts any more; one that is still in
                                 use adds itself again. `fingerprints` with the account's own address prints their numbers
          name NAME              names this device, in at most 53 characters; an empty NAME removes the name. Others see it if both
                                 use version 2
          version2 on|off        publishes, sends and reads OMEMO 2 besides 0.3, or 0.3 alone as at first
          reset                  makes this a new device with a new key; messages to the old one cannot be read any more

        \(IntentRunner.details)

        With --json `status` prints an event `omemo`, and each line of `fingerprints` is an event `key`; `name` is what the owner of a
        key calls the device, and nothing that you can rely on.

        examples:
          kalij omemo on romeo@example.net
          kalij omemo fingerprints romeo@example.net
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...3)
        let words = arguments.operands
        switch (words.first ?? "status", words.count) {
        case ("status", 0...1): return try status(arguments, shared)
        case ("fingerprints", 1...2): return try fingerprints(arguments, shared)
        case ("uri", 1): return try uri(arguments, shared)
        case (let word, _):
            guard let intent = try intent(word, words) else { throw misuse(word) }
            return try IntentRunner(arguments, shared).run(intent, waiting: !arguments.has("--queue-only"))
        }
    }

    private static func intent(_ word: String, _ words: [String]) throws -> (any Intent)? {
        switch (word, words.count) {
        case ("verify", 2): VerifyKeys(words[1])
        case ("trust", 3): TrustKey(try JID(words[1]), try fingerprint(words[2]), .verified)
        case ("distrust", 3): TrustKey(try JID(words[1]), try fingerprint(words[2]), .distrusted)
        case ("on", 2): EncryptConversation(try JID(words[1]), true)
        case ("off", 2): EncryptConversation(try JID(words[1]), false)
        case ("heal", 2): HealSession(try JID(words[1]))
        case ("heal", 3): HealSession(try JID(words[1]), device: try device(words[2]))
        case ("remove", 2): RemoveDevice(try device(words[1]))
        case ("name", 2): NameDevice(words[1])
        case ("version2", 2) where ["on", "off"].contains(words[1]): UseOMEMO2(words[1] == "on")
        case ("reset", 1): ResetKeys()
        default: nil
        }
    }

    private static func fingerprint(_ word: String) throws -> Fingerprint {
        guard let fingerprint = Fingerprint(word) else {
            throw Failure(.usage, "\"\(word)\" is no fingerprint: 64 hexadecimal digits, in quotes if there are spaces")
        }
        return fingerprint
    }

    private static func device(_ word: String) throws -> UInt32 {
        guard let device = UInt32(word), device > 0 else { throw Failure(.usage, "\"\(word)\" is no device: a number") }
        return device
    }

    private static func misuse(_ word: String) -> Failure {
        let needs = [
            "verify": "a URI", "trust": "an address and a fingerprint", "distrust": "an address and a fingerprint",
            "on": "an address", "off": "an address", "heal": "an address, and perhaps a device",
            "remove": "a device of the account", "name": "a name, in quotes if there are spaces",
            "version2": "on or off",
        ]
        guard let need = needs[word] else { return Failure(.usage, "there is no `omemo \(word)`") }
        return Failure(.usage, "`omemo \(word)` needs \(need)")
    }

    // MARK: Reading

    private static func status(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        let database = try shared.directory.read()
        let own = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(database).account(own, in: shared.directory)
        guard let state = try EncryptionState.load(of: account, from: database) else {
            if !shared.json {
                Output.notice("this device has no keys yet: they are made when it is online the first time")
            }
            return .nothing
        }
        let record = EncryptionRecord(state, of: account)
        Output.line(shared.json ? try JSONLine.of(record) : record.lines)
        return state.state == "ready" ? .done : .nothing
    }

    private static func fingerprints(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        let database = try shared.directory.read()
        let own = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(database).account(own, in: shared.directory)
        let jid = try arguments.operands.dropFirst().first.map { try JID($0) }
        let keys = try DeviceKey.all(of: account, for: jid, from: database)
        for key in keys {
            let record = KeyRecord(key, of: account)
            Output.line(shared.json ? try JSONLine.of(record) : record.line)
        }
        return keys.isEmpty ? .nothing : .done
    }

    private static func uri(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        let database = try shared.directory.read()
        let own = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(database).account(own, in: shared.directory)
        guard let state = try EncryptionState.load(of: account, from: database) else {
            throw Failure(.badInput, "this device has no keys yet")
        }
        Output.line("\(OMEMOURI.text(of: account.jid, [(state.device, state.fingerprint)]))")
        return .done
    }
}

/// The line of `kalij omemo status --json`.
private struct EncryptionRecord: Encodable {
    let event = "omemo"
    let account: String
    let at: String
    let device: UInt32
    let name: String?
    let fingerprint: String
    let state: String
    let reason: String?
    let version2: String?
    let version2Reason: String?
    let conversations: [String]
    let waiting: Int
    private let fingerprintText: String

    private enum CodingKeys: String, CodingKey {
        case event, account, at, device, name, fingerprint, state, reason, version2
        case version2Reason = "version2_reason"
        case conversations, waiting
    }

    init(_ state: EncryptionState, of account: Account) {
        self.account = account.jid.description
        at = Stamp.of(Clock.system.now())
        (device, name) = (state.device, state.name)
        (fingerprint, fingerprintText) = (state.fingerprint.hex, state.fingerprint.description)
        (self.state, reason) = (state.state, state.problem)
        (version2, version2Reason) = (state.secondState, state.secondProblem)
        (conversations, waiting) = (state.conversations, state.waiting)
    }

    var lines: PrintedText {
        var text: PrintedText = "\(account), device \(device)"
        if let name { text += ", \"\(name)\"" }
        text += ": \(fingerprintText)\n"
        text +=
            state == "ready"
            ? "  others can encrypt for this device" : "  the keys are not published: \(reason ?? state)"
        if let version2 {
            text +=
                version2 == "ready"
                ? "\n  also in version 2" : "\n  the keys of version 2 are not published: \(version2Reason ?? version2)"
        }
        for conversation in conversations { text += "\n  encrypted: \(conversation)" }
        if waiting > 0 { text += "\n  \(waiting) messages wait for keys" }
        return text
    }
}

/// A line of `kalij omemo fingerprints --json`.
private struct KeyRecord: Encodable {
    let event = "key"
    let account: String
    let contact: String
    let device: UInt32?
    let name: String?
    let fingerprint: String?
    let trust: String?
    let listed: Bool
    let versions: [String]
    let reason: String?
    private let fingerprintText: String

    private enum CodingKeys: String, CodingKey {
        case event, account, contact, device, name, fingerprint, trust, listed, versions, reason
    }

    init(_ key: DeviceKey, of account: Account) {
        self.account = account.jid.description
        (contact, name) = (key.jid.description, key.name)
        (device, fingerprint, fingerprintText) = (
            key.device, key.fingerprint?.hex, key.fingerprint?.description ?? "no key yet"
        )
        (trust, listed, versions, reason) = (key.trust?.rawValue, key.isListed, key.versions, key.problem)
    }

    var line: PrintedText {
        var text: PrintedText = "\(contact)"
        if let device { text += "  \(device)" }
        // Quoted: anybody can call a device anything.
        if let name { text += "  \"\(name)\"" }
        text += "  \(fingerprintText)"
        if let trust { text += "  \(trust)" }
        if versions.contains("2") { text += "  (version \(versions.sorted().joined(separator: " and ")))" }
        if device != nil, !listed { text += "  (not in the list any more)" }
        if let reason { text += "  (\(reason))" }
        return text
    }
}
