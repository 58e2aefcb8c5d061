import KalijAddress
import KalijCore
import KalijText

/// A session was agreed with a key that was not stored before.
public struct OMEMONewKey: EventContent {
    public static let name = "omemo-new-key"
    public static let meaning =
        "A session was agreed with a key that was not known before; `contact` is the account itself for its other devices (XEP-0384)."
    public static let keys: [EventKey] = [.contact, .device, .fingerprint, .trust]
    public let fields: [EventField]
    public var changed: DirectoryChange.Part? { .init(.contact) }
    public let line: PrintedText?
    /// A new key of the account's own devices can decrypt all further messages.
    public let isDetail: Bool

    init(_ device: PeerDevice, _ key: Fingerprint, _ trust: KeyTrust, isOwn: Bool) {
        fields = Self.fields(device, key) + [EventField(.trust, .text(trust.rawValue))]
        line =
            "new key of \(isOwn ? "your device" : "\(device.jid), device") \(device.device) (\(trust.rawValue)): \(key.description)"
        isDetail = !isOwn
    }

    fileprivate static func fields(_ device: PeerDevice, _ key: Fingerprint?) -> [EventField] {
        .present(
            EventField(.contact, .text(device.jid.description)), EventField(.device, .integer(Int64(device.device))),
            .optional(.fingerprint, key?.hex))
    }
}

/// A device presents another key than before.
public struct OMEMOKeyChanged: EventContent {
    public static let name = "omemo-key-changed"
    public static let meaning =
        "A device shows another key than before; what was agreed with the old key sends no more."
    public static let keys: [EventKey] = [.contact, .device, .fingerprint]
    public let fields: [EventField]
    public var changed: DirectoryChange.Part? { .init(.contact) }
    public let line: PrintedText?

    init(_ device: PeerDevice, _ key: Fingerprint) {
        fields = OMEMONewKey.fields(device, key)
        line = "the key of \(device.jid), device \(device.device), has changed: \(key.description)"
    }
}

/// The user has to decide whether a key is trusted.
public struct OMEMOUndecided: EventContent {
    public static let name = "omemo-undecided"
    public static let meaning =
        "A key gets nothing until the user decides: another key of the address is verified, or the key is also another's."
    public static let keys: [EventKey] = [.contact, .device, .fingerprint]
    public let fields: [EventField]
    public var changed: DirectoryChange.Part? { .init(.contact) }
    public let line: PrintedText?

    init(_ device: PeerDevice, _ key: Fingerprint) {
        fields = OMEMONewKey.fields(device, key)
        line = "trust the key of \(device.jid), device \(device.device)? \(key.description)"
    }
}

/// Encryption with a device fails, or the keys of this device cannot be published.
public struct KeyPublicationFailed: EventContent {
    public static let name = "omemo-broken"
    public static let meaning =
        "Messages of a device could not be read, and a new session is begun; or, without `device`, the keys of this device cannot be published."
    public static let keys: [EventKey] = [.contact, .device, .reason]
    public let fields: [EventField]
    public var changed: DirectoryChange.Part? { .init(.contact) }
    public let line: PrintedText?

    init(_ device: PeerDevice, _ reason: String) {
        fields = OMEMONewKey.fields(device, nil) + [EventField(.reason, .text(reason))]
        line = "messages of \(device.jid), device \(device.device), could not be read: \(reason)"
    }

    init(contact: JID, _ reason: String) {
        fields = [EventField(.contact, .text(contact.description)), EventField(.reason, .text(reason))]
        line = "\(contact) \(reason) (`kalij omemo off`, or `on`)"
    }

    init(reason: String) {
        fields = [EventField(.reason, .text(reason))]
        line = "OMEMO: \(reason)"
    }
}

/// The database was detected to be an old copy.
public struct OMEMORestored: EventContent {
    public static let name = "omemo-restored"
    public static let meaning =
        "The database was found to be an old copy: all sessions are begun anew. With `copy` another process uses a copy, too, and this device has a new key."
    public static let keys: [EventKey] = [.reason, .copy]
    public let fields: [EventField]
    public var changed: DirectoryChange.Part? { .init(.contact) }
    public let line: PrintedText?

    init(reason: String, isCopy: Bool) {
        fields = [EventField(.reason, .text(reason))] + (isCopy ? [EventField(.copy, .flag(true))] : [])
        line =
            "the database is an old copy (\(reason)): encrypted sessions are begun anew\(isCopy ? ", with a new key" : "")"
    }
}

/// Another device removes this device from the list repeatedly.
public struct DeviceListConflict: EventContent {
    public static let name = "omemo-list-fight"
    public static let meaning =
        "Another device of the account keeps removing this device from the list of devices; tried again after an hour."
    public var changed: DirectoryChange.Part? { .init(.contact) }
    public var line: PrintedText? {
        "another device of yours keeps removing this device from the list of devices (OMEMO)"
    }
}

extension EventKey {
    /// Whether another process uses a copy of the database.
    public static let copy = EventKey("copy", "true if another process seems to use a copy of the database")
}
