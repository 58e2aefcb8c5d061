import KalijClient

/// How a message was protected on its way, described for the user.
public enum Protection: Sendable, Equatable, CaseIterable {
    /// Encrypted with keys of which each was compared.
    case verified
    /// Encrypted with keys of which nobody has compared some.
    case encrypted
    /// Encrypted by a device on which the user has not decided.
    case undecided
    /// Encrypted by a device that the user distrusts.
    case distrusted
    /// Not encrypted, in an encrypted conversation.
    case plain

    /// Nil for a text that could not be decrypted.
    init?(_ encryption: MessageEncryption) {
        guard encryption.problem == nil else { return nil }
        guard !encryption.isPlain else {
            self = .plain
            return
        }
        switch encryption.trust {
        case .verified: self = .verified
        case .blind, nil: self = .encrypted
        case .undecided: self = .undecided
        case .distrusted: self = .distrusted
        }
    }

    public var words: String {
        switch self {
        case .verified: Words.markVerified
        case .encrypted: Words.markEncrypted
        case .undecided: Words.markUndecided
        case .distrusted: Words.markDistrusted
        case .plain: Words.markPlain
        }
    }

    /// What the mark means.
    public var meaning: String {
        switch self {
        case .verified: Words.meaningVerified
        case .encrypted: Words.meaningEncrypted
        case .undecided: Words.meaningUndecided
        case .distrusted: Words.meaningDistrusted
        case .plain: Words.meaningPlain
        }
    }

    /// Whether someone else than the author may have written or read the message.
    public var isProblem: Bool { self == .plain || self == .undecided || self == .distrusted }
}

extension MessageRow {
    /// The marks of encryption in words.
    var marks: [String] { [protection?.words ?? "", leftOut > 0 ? Words.leftOut(leftOut) : ""] }

    /// Marks a message that was not encrypted. A message that is not stored yet has no mark: it is encrypted when it is sent.
    mutating func markPlain() {
        if protection == nil, id > 0, !isNotice { protection = .plain }
    }
}
