import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore
import KalijText

/// Decides whether messages are encrypted for a key of another account, or of another device of the account.
public struct TrustKey: Intent {
    public static let name = "omemo_trust"
    /// The bare address.
    public let jid: JID
    /// 64 hexadecimal digits.
    public let fingerprint: String
    /// ``KeyTrust/verified``, ``KeyTrust/distrusted`` or ``KeyTrust/blind``.
    public let trust: KeyTrust

    private enum CodingKeys: String, CodingKey {
        case jid = "contact"
        case fingerprint, trust
    }

    /// - Parameters:
    ///   - jid: the bare address.
    ///   - fingerprint: the identity key.
    ///   - trust: the decision.
    public init(_ jid: JID, _ fingerprint: Fingerprint, _ trust: KeyTrust) {
        (self.jid, self.fingerprint, self.trust) = (jid.bare, fingerprint.hex, trust)
    }

    public func check() throws {
        guard Fingerprint(fingerprint) != nil else {
            throw IntentFailure("a fingerprint has 64 hexadecimal digits")
        }
        guard trust != .undecided else { throw IntentFailure("trust is verified, blind or distrusted") }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        guard let fingerprint = Fingerprint(fingerprint) else {
            return .failed("a fingerprint has 64 hexadecimal digits")
        }
        try TrustStore(step: step).set(trust, PublicKey(fingerprint.bytes).bytes, of: jid.bare)
        return .done
    }
}

/// Verifies keys by a URI, scanned as a code for example (XEP-0384 section 8.2 of 2, XEP-0434 section 4).
public struct VerifyKeys: Intent {
    public static let name = "omemo_verify"
    /// The URI.
    public let uri: String

    /// - Parameter uri: for example `xmpp:romeo@example.org?omemo-sid-1=...`.
    public init(_ uri: String) { self.uri = uri }

    public func check() throws {
        guard OMEMOURI(uri) != nil else { throw IntentFailure("this is no address with keys: \(uri.cut(to: 200))") }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        guard let uri = OMEMOURI(uri) else { return .failed("this is no address with keys") }
        for key in uri.verified {
            try TrustStore(step: step).set(.verified, PublicKey(key.bytes).bytes, of: uri.jid)
        }
        for key in uri.distrusted {
            try TrustStore(step: step).set(.distrusted, PublicKey(key.bytes).bytes, of: uri.jid)
        }
        return .done
    }
}

/// Enables or disables encryption in a conversation.
public struct EncryptConversation: Intent {
    public static let name = "omemo_encrypt"
    /// The bare address of a person or a room.
    public let jid: JID
    /// Whether messages are encrypted from now on.
    public let encrypted: Bool

    private enum CodingKeys: String, CodingKey {
        case jid = "contact"
        case encrypted
    }

    /// - Parameters:
    ///   - jid: the bare address of a person or a room.
    ///   - encrypted: whether messages are encrypted from now on.
    public init(_ jid: JID, _ encrypted: Bool) { (self.jid, self.encrypted) = (jid.bare, encrypted) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let room = try RoomRows(database: step.database, account: step.account.id).room(jid)
        if encrypted, let room, !room.info.isGroup { throw IntentFailure(Recipients.openRoom) }
        try ConversationEncryption(step: step).set(encrypted, for: jid.bare.description)
        try EncryptionQueue(step: step).schedule(jid.bare.description)
        if encrypted { try DeviceLists.request(room.map { try members(of: $0, in: step) } ?? [jid.bare], in: step) }
        return .done
    }

    private func members(of room: RoomRow, in step: Step) throws -> [JID] {
        try Members.all(of: room, in: step.database).map(\.jid).filter { $0 != step.account.jid }
    }
}

/// Begins new sessions with devices whose messages cannot be decrypted, or that cannot decrypt messages.
public struct HealSession: Intent {
    public static let name = "omemo_heal"
    /// The bare address.
    public let jid: JID
    /// The device; nil for all.
    public let device: UInt32?

    private enum CodingKeys: String, CodingKey {
        case jid = "contact"
        case device
    }

    /// - Parameters:
    ///   - jid: the bare address.
    ///   - device: the device; nil for all.
    public init(_ jid: JID, device: UInt32? = nil) { (self.jid, self.device) = (jid.bare, device) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let lists = try EnabledVersions(step: step).all.compactMap {
            try DeviceLists(step: step, dialect: $0).list(of: jid)
        }
        guard !lists.isEmpty else { throw IntentFailure("no device of \(jid) is known") }
        let devices = try lists.flatMap { try PeerDevices(step: step).all(of: $0) }.filter {
            device == nil ? $0.isListed : $0.device == device
        }
        guard !devices.isEmpty else {
            throw IntentFailure(device.map { "\(jid) has no device \($0)" } ?? "no device of \(jid) is known")
        }
        for device in devices { try SessionRepair(step: step).command(device) }
        return .done
    }
}

/// Replaces this device by a new one with a new key, which everybody has to verify again.
public struct ResetKeys: Intent {
    public static let name = "omemo_reset"

    /// Creates the intent.
    public init() {}

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        guard try OwnDevice.id(of: step.account.id, in: step.database) != nil else {
            throw IntentFailure("this device has no keys yet")
        }
        try BackupRestoreGuard(step: step).reset()
        return .done
    }
}

/// Removes another device of the account from the list of devices, and its keys from the server: nobody encrypts for it any more. A device
/// that is still in use adds itself again.
public struct RemoveDevice: Intent {
    public static let name = "omemo_remove"
    /// The id of the device.
    public let device: UInt32

    /// - Parameter device: the id of the device.
    public init(_ device: UInt32) { self.device = device }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        var isRemoved = false
        for dialect in try EnabledVersions(step: step).all {
            if try KeyPublisher(step: step, dialect: dialect).remove(device) { isRemoved = true }
        }
        guard isRemoved else {
            throw IntentFailure("the published list of the account's devices does not contain \(device)")
        }
        step.flush()
        return .done
    }
}

/// Names this device. The name is in the account's list of devices, for those who use OMEMO 2 as the account does (``UseOMEMO2``).
public struct NameDevice: Intent {
    public static let name = "omemo_name"
    /// The name; empty for none.
    public let label: String

    /// - Parameter label: the name, of at most 53 Unicode scalars without control characters; empty for none.
    public init(_ label: String) { self.label = label }

    /// - Parameter text: what a person has entered: what a name may not have is left out.
    public init(cleaning text: String) { label = DeviceList.Label.clean(text) ?? "" }

    public func check() throws {
        guard label.isEmpty || DeviceList.Label.clean(label) == label else {
            throw IntentFailure(Reason(.noDeviceName, "\(DeviceList.Label.maxName)"))
        }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        try OwnName(step).set(label.isEmpty ? nil : label)
        if try EnabledVersions(step: step).usesOMEMO2 { try KeyPublisher(step: step, dialect: .omemo2).renamed() }
        step.flush()
        return .done
    }
}

/// Uses OMEMO 2 (`urn:xmpp:omemo:2`) in addition to 0.3, or 0.3 alone. A device that supports both receives messages in 2, which
/// encrypts all parts of a message.
public struct UseOMEMO2: Intent {
    public static let name = "omemo_version2"
    /// Whether 2 is used.
    public let enabled: Bool

    /// - Parameter enabled: whether 2 is used.
    public init(_ enabled: Bool) { self.enabled = enabled }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let formats = EnabledVersions(step: step)
        guard try formats.usesOMEMO2 != enabled else { return .done }
        try formats.set(usesOMEMO2: enabled)
        let publisher = KeyPublisher(step: step, dialect: .omemo2)
        guard enabled else {
            _ = try DeviceRemoval(step: step).leave(.omemo2)
            try publisher.handle(.unpublished)
            return .done
        }
        let stage = try KeyPublicationRow.load(step.account.id, .axolotl, from: step.database)?.state.stage ?? .off
        // Otherwise the next session publishes both.
        if stage != .off, stage != .refused { try publisher.began() }
        return .done
    }
}
