import KalijAddress
import KalijClient

/// A device with its key, as a row of a list.
public struct DeviceRow: Sendable, Equatable {
    /// The id of the device; nil for a key without a device on which the user has decided.
    public let device: UInt32?
    /// Nil as long as no message was exchanged with the device.
    public let fingerprint: Fingerprint?
    public let state: DeviceState
    /// Whether the address lists the device: others can send to it.
    public let isListed: Bool
    /// The time of the newest message of the device, in milliseconds since 1970; nil without one.
    public let lastMessageAt: Int64?
    /// Whether the device is one of the user's.
    public let isOwn: Bool
    /// What the owner of the key calls the device; nil without a name.
    public let name: String?

    public init(
        device: UInt32?, fingerprint: Fingerprint?, state: DeviceState, isListed: Bool = true,
        lastMessageAt: Int64? = nil, isOwn: Bool = false, name: String? = nil
    ) {
        self.name = name
        (self.device, self.fingerprint, self.state) = (device, fingerprint, state)
        (self.isListed, self.lastMessageAt, self.isOwn) = (isListed, lastMessageAt, isOwn)
    }

    /// A name is in quotation marks, behind the number: anybody can call a device anything.
    public var title: String {
        let title = state == .this ? Words.thisDevice : device.map { Words.device($0) } ?? Words.formerDevice
        return quotedName.map { title + ", " + $0 } ?? title
    }

    /// Without quotation marks of its own, which would end it.
    private var quotedName: String? {
        let name = name?.filter { !"“”„‟\"«»‹›".contains($0) } ?? ""
        return name.isEmpty ? nil : "“" + name.shownName + "”"
    }

    /// The state in words.
    public var words: String { isListed || state == .this ? state.words : Words.unused(state.words) }

    /// Eight groups of eight digits.
    public var digits: String { fingerprint?.description ?? Words.noKeyYet }

    /// The accessible name.
    /// - Parameter time: of the last message; empty without one.
    public func spoken(_ time: String) -> String {
        [
            title, words, time.isEmpty ? "" : Words.lastMessage(time),
            fingerprint == nil ? digits : Words.keyDigits(digits),
        ].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Identifies the row: a device keeps its row when it presents another key.
    public var id: String { device.map { "\($0)" } ?? fingerprint?.hex ?? "" }

    public var actions: [DeviceAction] {
        guard state != .this else { return [.name] }
        let decisions: [DeviceAction] =
            fingerprint == nil
            ? []
            : [
                state == .verified ? nil : .verify, state == .blind ? nil : .trust,
                state == .distrusted ? nil : .distrust,
            ].compactMap { $0 }
        return decisions + (isOwn && isListed && device != nil ? [.remove] : [])
    }
}

/// How far a device is trusted.
public enum DeviceState: Sendable, Equatable {
    /// This device itself.
    case this
    case verified
    /// Messages are sent to the device, but nobody has compared its key.
    case blind
    /// The device receives nothing until the user decides.
    case undecided
    case distrusted
    /// The device has presented no key yet.
    case unknown

    init(_ trust: KeyTrust?) {
        switch trust {
        case .verified: self = .verified
        case .blind: self = .blind
        case .undecided: self = .undecided
        case .distrusted: self = .distrusted
        case nil: self = .unknown
        }
    }

    var words: String {
        switch self {
        case .this: ""
        case .verified: Words.verified
        case .blind: Words.notVerified
        case .undecided: Words.undecided
        case .distrusted: Words.distrusted
        case .unknown: Words.notMet
        }
    }
}

/// An action on a device.
public enum DeviceAction: Sendable, Equatable {
    /// Compares the key with the one that the device itself displays.
    case verify
    /// Sends to the device without a comparison.
    case trust
    case distrust
    /// Removes one of the user's own devices.
    case remove
    /// Names this device.
    case name

    public var words: String {
        switch self {
        case .verify: Words.compare
        case .trust: Words.trustUnverified
        case .distrust: Words.distrust
        case .remove: Words.removeDevice
        case .name: Words.nameDevice
        }
    }

    /// The words without the sign of a question that follows.
    public var plain: String { words.withoutEllipsis }

    public var isDestructive: Bool { self == .distrust || self == .remove }
}

extension DeviceRow {
    init(_ key: DeviceKey, isOwn: Bool) {
        self.init(
            device: key.device, fingerprint: key.fingerprint, state: DeviceState(key.trust), isListed: key.isListed,
            lastMessageAt: key.lastMessageAt, isOwn: isOwn, name: key.name)
    }

    /// The change that a decision makes; nil for ``DeviceAction/verify`` before the comparison, for ``DeviceAction/name``, and
    /// without what it needs.
    public func intent(_ action: DeviceAction, on key: ConversationKey) -> (any Intent)? {
        switch action {
        case .verify, .name: nil
        case .trust: intent(.blind, on: key)
        case .distrust: intent(.distrusted, on: key)
        case .remove: device.map { RemoveDevice($0) }
        }
    }

    /// - Parameter trust: the decision on the key.
    public func intent(_ trust: KeyTrust, on key: ConversationKey) -> (any Intent)? {
        fingerprint.map { TrustKey(.received(key.jid), $0, trust) }
    }
}
