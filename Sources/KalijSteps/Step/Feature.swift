import KalijAddress
import KalijHandlers
import KalijStore
import KalijStream
import KalijXML

/// A part of what an account does, with everything about it that others have to know.
///
/// The engine's own features are listed in `Features.own`. An application is a feature too: it is named in the options of its
/// engine (``Engine/Options/features``), keeps tables of its own in the accounts' database, and has its handlers called.
public protocol Feature: SendableMetatype {
    /// Of a word, which begins the names of its migrations (`messages/1`) and, unless ``handlerPrefix`` says otherwise, of its
    /// handlers (`messages.settled`). An application's begins with a domain of its author: `org.example.bot`. Never changed once it was
    /// released.
    static var name: String { get }

    /// What makes its tables. In the order in which they are made; released ones are never changed, only added to.
    static var migrations: [Migration] { get }

    /// Its stored handlers. All processes that drive a directory must know them.
    static var handlers: [any Handler<Step>.Type] { get }

    /// What the names of its handlers begin with, before the last full stop.
    static var handlerPrefix: String { get }

    /// One of its handlers can never be called; what waits for it has to go on without.
    /// - Throws: what makes the whole step void.
    static func lost(_ letter: DeadLetter, in step: Step) throws

    /// What it tells.
    static var events: [any EventContent.Type] { get }

    /// What this client says of itself because of the feature (XEP-0030): values of `var`.
    static var announced: [String] { get }

    /// The event about a message that was stored as `kind`: what ``MessageEvent/kind`` gave; nil if it is none of this feature's.
    static func event(_ kind: String, of message: Message) -> (any MessageEvent)?

    // MARK: The life of a session

    /// A new session is bound, and the one before is lost: what was known for that one is void, and what it was asked will not be
    /// answered. Called in the step that notes the new session.
    static func sessionLost(in step: Step) throws

    /// The new session can be used. What is sent here leaves before presence.
    static func sessionBegan(in step: Step) throws

    /// The session goes on over a new connection. Messages that have left and are not acknowledged are held back.
    static func sessionResumed(in step: Step) throws

    /// What the server supports, or the account, was found out, once in each new session (XEP-0030); or it will not be.
    static func serverKnown(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws

    /// Whether presence still waits for this feature. A feature that has let presence wait calls `announcePresence()` of the
    /// step as soon as the reason is gone.
    static func holdsPresence(in step: Step) throws -> Bool

    /// The first presence of the session was sent: the server delivers from now on.
    static func becameAvailable(in step: Step) throws

    // MARK: What comes

    /// A message has come, from whatever source, and is not stored yet. Called for all features in their order; what one changes
    /// the next ones see.
    static func arrived(_ message: inout IncomingMessage, in step: Step) throws

    /// A message has come, and was stored in a new row.
    static func stored(_ message: Message, from incoming: IncomingMessage, in step: Step) throws

    /// A presence has come.
    static func presence(_ presence: Element, in step: Step) throws

    /// A request has come, of somebody who may know that the account is online.
    /// - Returns: the answer; nil if the request is not for this feature.
    static func answer(_ request: Element, in step: Step) throws -> RequestAnswer?

    /// The step is over but for its commit.
    static func finish(_ step: Step) throws

    /// Whether the stanza-ids that a room stamps on messages are those of its archive (XEP-0359 section 5).
    static func trustsStamps(of room: JID, in step: Step) throws -> Bool

    // MARK: What leaves

    /// A message of the user's is about to be queued: puts into the stanza what the feature wants to be in it, 100 bytes at most.
    static func prepare(_ message: Element, in step: Step) throws

    /// Whether a stanza that was sent with ``Step/send(_:)`` is sent again in a new session, if the one before was lost with the
    /// stanza unacknowledged. So it may arrive twice.
    static func outlivesSession(_ stanza: Element) -> Bool
}

extension Feature {
    public static var migrations: [Migration] { [] }
    public static var handlers: [any Handler<Step>.Type] { [] }
    public static var handlerPrefix: String { name }
    public static func lost(_ letter: DeadLetter, in step: Step) throws {}
    public static var events: [any EventContent.Type] { [] }
    public static var announced: [String] { [] }
    public static func event(_ kind: String, of message: Message) -> (any MessageEvent)? { nil }
    public static func sessionLost(in step: Step) throws {}
    public static func sessionBegan(in step: Step) throws {}
    public static func sessionResumed(in step: Step) throws {}
    public static func serverKnown(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {}
    public static func holdsPresence(in step: Step) throws -> Bool { false }
    public static func becameAvailable(in step: Step) throws {}
    public static func arrived(_ message: inout IncomingMessage, in step: Step) throws {}
    public static func stored(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {}
    public static func presence(_ presence: Element, in step: Step) throws {}
    public static func answer(_ request: Element, in step: Step) throws -> RequestAnswer? { nil }
    public static func finish(_ step: Step) throws {}
    public static func trustsStamps(of room: JID, in step: Step) throws -> Bool { false }
    public static func prepare(_ message: Element, in step: Step) throws {}
    public static func outlivesSession(_ stanza: Element) -> Bool { false }
}

/// Who says what it supports.
public enum ServerEntity: String, Sendable, Codable {
    /// The account's server.
    case server
    /// The account itself: the server on its behalf.
    case account
}

/// What came of the question what a server supports.
public enum ServerAnswer {
    /// What the entity supports.
    case known(DiscoveryInfo)
    /// An error, which says nothing new: a server in trouble supports what it did before.
    case refused
    /// No answer, for the reason that is given.
    case none(String)
}

/// The answer to a request (RFC 6120 8.2.3).
public enum RequestAnswer {
    /// With or without something in it.
    case result(Element?)
    /// An error of that condition (RFC 6120 8.3.3).
    case error(StanzaError.Condition)
}
