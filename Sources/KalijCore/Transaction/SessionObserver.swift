import KalijStream

/// A feature with per-session state: what was requested, answered and announced since the last bind (RFC 6120 section 7).
public protocol SessionObserver: Feature {
    /// A new session is bound, and the previous session is lost: its state is void, and its requests will not be
    /// answered. Called in the step that records the new session.
    static func didLoseSession(in step: Step) throws

    /// The new session can be used. Stanzas sent here leave before the initial presence.
    static func didBindSession(in step: Step) throws

    /// The session continues over a new connection (XEP-0198 section 5). Messages that have left and are not acknowledged are
    /// held back.
    static func didResumeSession(in step: Step) throws

    /// The server has counted more stanzas in the session than were sent: the database may be an old copy. The session is given up.
    static func didDetectCounterMismatch(in step: Step) throws

    /// The query for the features of the server or of the account has an outcome; once in each new session (XEP-0030).
    static func didDiscover(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws

    /// Whether the initial presence waits for this feature. The feature calls `announcePresence()` of the step as soon as the
    /// reason no longer applies.
    static func defersPresence(in step: Step) throws -> Bool

    /// The initial presence of the session was sent (RFC 6121 section 4.2): the server delivers from now on.
    static func didSendInitialPresence(in step: Step) throws

    /// The roster was received, or will not be in this session: from now on it is determined who may see that the account is online.
    static func didLoadContacts(in step: Step) throws
}

extension SessionObserver {
    public static func didLoseSession(in step: Step) throws {}
    public static func didBindSession(in step: Step) throws {}
    public static func didResumeSession(in step: Step) throws {}
    public static func didDetectCounterMismatch(in step: Step) throws {}
    public static func didDiscover(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {}
    public static func defersPresence(in step: Step) throws -> Bool { false }
    public static func didSendInitialPresence(in step: Step) throws {}
    public static func didLoadContacts(in step: Step) throws {}
}

/// An entity that is queried for its features.
public enum ServerEntity: String, Sendable, Codable {
    /// The account's server.
    case server
    /// The account itself: the server on its behalf.
    case account
}

/// The outcome of a query for the features of the server or of the account.
public enum ServerAnswer {
    /// The features of the entity.
    case known(DiscoveryInfo)
    /// An error. Errors change nothing: a failing server still supports the same features.
    case refused
    /// No answer, for the given reason.
    case none(String)
}
