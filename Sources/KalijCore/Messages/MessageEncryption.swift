import KalijText

/// How a message was encrypted, and whether its text could be read.
public struct MessageEncryption: Sendable, Equatable {
    /// The namespace of the method (XEP-0380); empty if the message arrived as plain text in an encrypted conversation.
    public let method: String
    /// The sender's device (XEP-0384); nil if the method has none, and for the user's messages of this device.
    public package(set) var device: UInt32?
    /// The sender's identity key: 64 hexadecimal digits of its Curve25519 form.
    public package(set) var fingerprint: String?
    /// How far the sender's key was trusted when the message arrived. Of a message of this device: `verified` if the keys of all devices
    /// that received it were, else `blind`; nil before it was encrypted.
    public package(set) var trust: KeyTrust?
    /// Why the text could not be read; nil if it could.
    public package(set) var problem: Problem?
    /// Of the user's message: the devices that cannot read it, as `address/device`, or an address without any device.
    public package(set) var leftOut: [String]

    /// Why a text cannot be read.
    public enum Problem: String, Sendable, CaseIterable {
        /// The method is not supported here.
        case unknownMethod = "unknown-method"
        /// The key was used, given up, or belongs to a session that is lost.
        case keyGone = "key-gone"
        /// The message is older than this device.
        case beforeDevice = "before-device"
        /// The sender has not encrypted for this device.
        case notForUs = "not-for-us"
        /// The message was changed in transit, or belongs to another session.
        case mac
        /// Too many messages are missing before the message.
        case tooFar = "too-far"
        /// The message does not conform to the standard.
        case malformed
    }

    package init(
        _ method: String, device: UInt32? = nil, fingerprint: String? = nil, trust: KeyTrust? = nil,
        problem: Problem? = nil, leftOut: [String] = []
    ) {
        (self.method, self.device, self.fingerprint) = (method, device, fingerprint)
        (self.trust, self.problem, self.leftOut) = (trust, problem, leftOut)
    }

    /// Plain text in an encrypted conversation.
    package static let plain = MessageEncryption("")

    /// Whether the message arrived as plain text in an encrypted conversation.
    public var isPlain: Bool { method.isEmpty }

    /// Whether only the body is encrypted (XEP-0384, version 0.3): servers can add or change every other child of the stanza.
    package var coversTextAlone: Bool { method == "eu.siacs.conversations.axolotl" }

    /// Whether the message was encrypted under a key in use: no intermediary can have written it.
    package var isProven: Bool { !isPlain && problem == nil && trust?.isUsed ?? true }

    /// Whether a message with the encryption `operation` may change what one with the encryption `target` shows. A message that
    /// an intermediary can have written may not; an author who has written under a key may change the message under the same key.
    package static func mayChange(_ target: MessageEncryption?, by operation: MessageEncryption?) -> Bool {
        guard let target, !target.isPlain else { return true }
        guard let operation, !operation.isPlain, operation.problem == nil else { return false }
        return operation.isProven || operation.fingerprint != nil && operation.fingerprint == target.fingerprint
    }
}

/// How far an identity key of somebody's device is trusted.
public enum KeyTrust: String, Sendable, Codable, CaseIterable {
    /// Nobody has compared the key. It is used, as long as no other key of the address was verified.
    case blind
    /// The user has compared the key.
    case verified
    /// The user has to decide: the key gets nothing.
    case undecided
    /// The user does not trust the key: it gets nothing.
    case distrusted

    /// Whether messages are encrypted for the key.
    package var isUsed: Bool { self == .blind || self == .verified }
}

extension MessageEncryption {
    private static let (plainText, none) = ("plain", "-")

    /// The form in the database: words, with `-` for a missing value. The namespace alone is a method that is not supported.
    package var stored: String {
        if isPlain { return Self.plainText }
        if problem == .unknownMethod { return method }
        let words: [String?] = [
            method, device.map { "\($0)" }, fingerprint, trust?.rawValue, problem?.rawValue,
            leftOut.isEmpty ? nil : leftOut.joined(separator: ","),
        ]
        return words.map { $0 ?? Self.none }.joined(separator: " ")
    }

    package init(stored: String) {
        guard stored != Self.plainText else {
            self = .plain
            return
        }
        let words = stored.parts(at: " ")
        guard words.count == 6 else {
            self.init(stored, problem: .unknownMethod)
            return
        }
        func word(_ place: Int) -> String? { words[place] == Self.none ? nil : words[place] }
        self.init(
            words[0], device: word(1).flatMap { UInt32($0) }, fingerprint: word(2),
            trust: word(3).flatMap(KeyTrust.init), problem: word(4).flatMap(Problem.init),
            leftOut: word(5)?.words(at: ",") ?? [])
    }

    /// The fields in JSON.
    package var fields: [EventField] {
        if isPlain { return [EventField(.plain, .flag(true))] }
        return .present(
            EventField(.method, .text(method)), device.map { EventField(.device, .integer(Int64($0))) },
            .optional(.fingerprint, fingerprint), .optional(.trust, trust?.rawValue),
            .optional(.undecryptable, problem?.rawValue),
            leftOut.isEmpty ? nil : EventField(.leftOut, .texts(leftOut)))
    }
}

extension EventKey {
    /// The namespace of the encryption.
    public static let method = EventKey("ns", "the namespace of the encryption (XEP-0380)")
    /// A device.
    public static let device = EventKey("device", "the id of a device (XEP-0384)")
    /// The identity key of a device.
    public static let fingerprint = EventKey(
        "fingerprint", "the identity key of a device: 64 hexadecimal digits of its Curve25519 form")
    /// How far a key is trusted.
    public static let trust = EventKey(
        "trust", "how far the key is trusted: `blind`, `verified`, `undecided` or `distrusted`")
    /// Why a message cannot be read.
    public static let undecryptable = EventKey(
        "undecryptable",
        "why the text cannot be read: `key-gone`, `before-device`, `not-for-us`, `mac`, `too-far`, `malformed` or "
            + "`unknown-method`")
    /// Plain text in an encrypted conversation.
    public static let plain = EventKey("plain", "true if the message came as plain text in an encrypted conversation")
    /// The devices that cannot read a message of the user's.
    public static let leftOut = EventKey(
        "left_out",
        "the devices that a message was not encrypted for, as `address/device`, or an address without devices")
}
