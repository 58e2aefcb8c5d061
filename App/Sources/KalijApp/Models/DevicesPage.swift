import KalijAddress
import KalijClient

/// The devices of a contact, or of the account itself, as their screen displays them.
public struct DevicesPage: Sendable, Equatable {
    /// The account, and the address whose devices these are.
    public let key: ConversationKey
    public let name: String
    /// The account's own device first, then those in use, then those no longer in use.
    public let rows: [DeviceRow]
    /// The address of the account with the key of this device, for a code that others scan; nil before the first login.
    public let code: String?
    /// The key of this device.
    public let fingerprint: Fingerprint?

    public init(key: ConversationKey, name: String, rows: [DeviceRow], code: String?, fingerprint: Fingerprint?) {
        self.key = key
        self.name = name
        self.rows = rows
        (self.code, self.fingerprint) = (code, fingerprint)
    }

    public var isOwn: Bool { key.account == key.jid }

    public var title: String { isOwn ? Words.ownDevices : Words.devices(of: name) }

    /// What a screen reader says when the devices are opened.
    public var spoken: String { title + ". " + notice }

    /// What the list means, or why it is empty.
    public var notice: String {
        if code == nil { return Words.noKeysHere }
        if rows.isEmpty { return Words.noDevices(of: name) }
        if isOwn { return rows.count == 1 ? Words.noOtherDevice : Words.ownDevicesHint }
        return rows.contains { $0.state == .verified } ? Words.verifiedHint : Words.blindHint
    }
}

/// What a scanned code means for the devices of an address.
public enum CodeOutcome: Sendable, Equatable {
    /// The keys match, or are not met yet: they are to be verified.
    case verifies(uri: String, count: Int)
    /// The code belongs to another address.
    case otherAddress(String)
    /// The code is that of this device.
    case thisDevice
    /// The device presents another key here than in the code: someone may intercept.
    case otherKey(UInt32)
    /// There is no address with keys.
    case noCode

    /// - Parameters:
    ///   - text: what was scanned, pasted or typed.
    ///   - page: the devices that it is compared with.
    public init(_ text: String, for page: DevicesPage) {
        let text = text.filter { !$0.isWhitespace }
        guard let uri = OMEMOURI(text), !uri.verified.isEmpty else {
            self = .noCode
            return
        }
        let own = page.fingerprint
        if uri.jid != JID.received(page.key.jid) {
            self = .otherAddress(uri.jid.description.shownName)
        } else if let own, page.isOwn, uri.verified == [own], uri.distrusted.isEmpty {
            self = .thisDevice
        } else if let device = Self.conflict(uri, page) {
            self = .otherKey(device)
        } else {
            self = .verifies(uri: text, count: uri.verified.count)
        }
    }

    /// The best outcome of several codes in a picture.
    public init(_ texts: [String], for page: DevicesPage) {
        let outcomes = texts.map { CodeOutcome($0, for: page) }
        self = outcomes.first(where: \.isProblem) ?? outcomes.first(where: \.isVerifying) ?? outcomes.first ?? .noCode
    }

    private static func conflict(_ uri: OMEMOURI, _ page: DevicesPage) -> UInt32? {
        page.rows.compactMap { row -> UInt32? in
            guard let device = row.device, let key = row.fingerprint, let shown = uri.devices[device], shown != key
            else { return nil }
            return device
        }.first
    }

    private var isVerifying: Bool { if case .verifies = self { true } else { false } }
    /// Whether the keys here differ from those of the code.
    public var isProblem: Bool { if case .otherKey = self { true } else { false } }

    /// The outcome in words.
    public func words(_ name: String) -> String {
        switch self {
        case .verifies(_, let count): Words.verified(count, of: name)
        case .otherAddress(let address): Words.codeOfAnother(address, not: name)
        case .thisDevice: Words.codeOfThisDevice
        case .otherKey(let device): Words.codeWithOtherKey(device, of: name)
        case .noCode: Words.noCode
        }
    }
}
