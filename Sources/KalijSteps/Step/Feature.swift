import KalijAddress
import KalijHandlers
import KalijStore
import KalijStream
import KalijXML

/// A part of the work for an account, with all declarations that the engine needs.
///
/// The engine's own features are listed in `Features.own`. An application is a feature too: the options of its engine
/// name the feature (``Engine/Options/features``). An application keeps tables of its own in the accounts' database,
/// and its handlers are called.
public protocol Feature: SendableMetatype {
    /// A word. The names of the feature's migrations begin with this word (`messages/1`), and, without a
    /// ``handlerPrefix``, the names of its handlers (`messages.settled`). The name of an application's feature begins
    /// with a domain of the author: `org.example.bot`. Never changed after a release.
    static var name: String { get }

    /// The migrations of the feature's tables, in order. A released migration is never changed; new migrations are
    /// added.
    static var migrations: [Migration] { get }

    /// The feature's stored handlers. All processes that drive a directory must know them.
    static var handlers: [any Handler<Step>.Type] { get }

    /// The beginning of the handlers' names, before the last full stop.
    static var handlerPrefix: String { get }

    /// A handler of the feature can never be called; the work that waits for the handler has to go on without.
    /// - Throws: an error that makes the whole step void.
    static func lost(_ letter: DeadLetter, in step: Step) throws

    /// The feature's events.
    static var events: [any EventContent.Type] { get }

    /// The types of the changes that the user can ask this feature for.
    static var intents: [any Intent.Type] { get }

    /// The features that this client announces (XEP-0030): values of `var`.
    static var announced: [String] { get }

    /// The event about a message that was stored as `kind` (``MessageEvent/kind``); nil if the kind is not this
    /// feature's.
    static func event(_ kind: String, of message: Message) -> (any MessageEvent)?

    /// The feature's part of `kalij status` for an account. Reading the status must not take longer with more messages.
    static func status(of account: Account, in database: Database) throws -> [EventField]

    // MARK: The life of a session

    /// A new session is bound, and the previous session is lost: its state is void, and its questions will not be
    /// answered. Called in the step that notes the new session.
    static func sessionLost(in step: Step) throws

    /// The new session can be used. Stanzas sent here leave before presence.
    static func sessionBegan(in step: Step) throws

    /// The session goes on over a new connection. Messages that have left and are not acknowledged are held back.
    static func sessionResumed(in step: Step) throws

    /// The server has counted more stanzas in the session than were sent: the database may be an old copy. The session is given up.
    static func sessionMisfit(in step: Step) throws

    /// The features of the server or of the account are known, or will not be; once in each new session (XEP-0030).
    static func serverKnown(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws

    /// Whether presence still waits for this feature. A feature that has let presence wait calls `announcePresence()` of the
    /// step as soon as the reason is gone.
    static func holdsPresence(in step: Step) throws -> Bool

    /// The first presence of the session was sent: the server delivers from now on.
    static func becameAvailable(in step: Step) throws

    /// The account's archive was read to its end: the missed messages are stored.
    static func archiveRead(in step: Step) throws

    /// The contacts that may know whether the account is online are known, or will not be known in this session.
    static func contactsKnown(in step: Step) throws

    /// The account is about to be logged out, in a session: what the server has to be told before is sent here.
    /// - Returns: the names of the handlers whose answers the logout waits for.
    static func leave(in step: Step) throws -> [String]

    /// The account is about to be removed with all rows that refer to it.
    static func accountRemoved(in step: Step) throws

    /// The account is logged out, and stays stored with its messages: whatever can be had from the server again is removed.
    static func accountLoggedOut(in step: Step) throws

    // MARK: Incoming

    /// A message has come, from any source, and is not stored yet. Called for all features in their order; later
    /// features see the changes of earlier features.
    static func arrived(_ message: inout IncomingMessage, in step: Step) throws

    /// A message has come, and was stored in a new row; nobody was told yet. A feature that changes the row changes `message`,
    /// too.
    static func inserted(_ message: inout Message, from incoming: IncomingMessage, in step: Step) throws

    /// A message has come, and was stored in a new row; perhaps it is not shown (``IncomingMessage/isShown``).
    static func stored(_ message: Message, from incoming: IncomingMessage, in step: Step) throws

    /// A message has come, and is a line of its conversation from now on. Called once for most messages, in the step that stores
    /// the message; for a correction whose original never comes, perhaps later.
    static func shown(_ message: Message, from incoming: IncomingMessage, in step: Step) throws

    /// The message in `row` has another place in the order of messages, or has got the id of a room's archive.
    static func moved(_ row: Int64, in step: Step) throws

    /// A message of the user's has another state, or its outcome is unknown from now on.
    static func stateChanged(_ message: Message, in step: Step) throws

    /// The account's server has the user's message in the row `message`; again, if the message was sent again.
    static func acknowledged(_ message: Int64, in step: Step) throws

    /// The text of the message in `row` was `old` and is `text` from now on; `text` is nil if the message lost its
    /// text, or was removed. Not called for a message that is stored with its text.
    static func textChanged(of row: Int64, from old: String?, to text: String?, in step: Step) throws

    /// A presence has come.
    static func presence(_ presence: Element, in step: Step) throws

    /// A request has come, from somebody who may know that the account is online.
    /// - Returns: the answer; nil if the request is not for this feature.
    static func answer(_ request: Element, in step: Step) throws -> RequestAnswer?

    /// The step ends. More steps may follow before the commit.
    static func finish(_ step: Step) throws

    /// In `conversations`, other messages may be unread than before. Called before the commit; once, if more steps than `step` are
    /// committed together.
    static func unreadMayDiffer(in conversations: [String], step: Step) throws

    /// Whether the stanza-ids of a room's messages are the ids of its archive (XEP-0359 section 5).
    static func trustsStamps(of room: JID, in step: Step) throws -> Bool

    /// The archive of `room` was read to its end, or not, for the reason `problem`.
    static func roomRead(_ room: JID, problem: String?, in step: Step) throws

    /// An error has come in answer to a message.
    /// - Returns: whether the feature has dealt with the error; if no feature has, the message has failed.
    static func takesError(_ message: Element, in step: Step) throws -> Bool

    /// Whether `jid` sees that the account is online though it is no contact.
    static func isVisible(to jid: JID, in step: Step) throws -> Bool

    // MARK: Outgoing

    /// Whether messages to `jid` are for all occupants of a room (XEP-0045 section 7.4).
    static func isRoom(_ jid: JID, in step: Step) throws -> Bool

    /// A stanza of the user's was accepted, and is about to be queued. All features are asked, the last of the
    /// list first.
    /// - Throws: an error that says why the message cannot be sent.
    /// - Returns: whether the feature keeps the stanza, and queues the stanza itself when it may leave.
    static func keeps(_ stanza: AcceptedStanza, in step: Step) throws -> Bool

    /// Whether the feature may have stanzas that can leave now, to be queued by ``queueReady(in:)``. Asked in no step, before each
    /// writing of the queue.
    static func hasReady(for account: Account, in database: Database) throws -> Bool

    /// The connection has room: the feature queues some of what it keeps.
    static func queueReady(in step: Step) throws

    /// Whether the message to a room in the row `message` waits for this feature, though it could leave now; and with it everything
    /// later in the room.
    static func holds(_ message: Int64, to room: JID, in step: Step) throws -> Bool

    /// Whether work is left that a process does before it ends by itself, besides the queue.
    static func isOwed(by account: Account, in database: Database) throws -> Bool

    /// Whether something is under way that makes the server push later, such as entering a room: a `wake` waits a little for the end.
    static func isPreparing(_ account: Account, in database: Database) throws -> Bool

    /// A user's message to a person is about to be queued: adds the feature's elements to the stanza, 100 bytes at
    /// most.
    static func prepare(_ message: Element, in step: Step) throws
}

extension Feature {
    public static var migrations: [Migration] { [] }
    public static var handlers: [any Handler<Step>.Type] { [] }
    public static var handlerPrefix: String { name }
    public static func lost(_ letter: DeadLetter, in step: Step) throws {}
    public static var events: [any EventContent.Type] { [] }
    public static var intents: [any Intent.Type] { [] }
    public static var announced: [String] { [] }
    public static func event(_ kind: String, of message: Message) -> (any MessageEvent)? { nil }
    public static func status(of account: Account, in database: Database) throws -> [EventField] { [] }
    public static func sessionLost(in step: Step) throws {}
    public static func sessionBegan(in step: Step) throws {}
    public static func sessionResumed(in step: Step) throws {}
    public static func sessionMisfit(in step: Step) throws {}
    public static func serverKnown(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {}
    public static func holdsPresence(in step: Step) throws -> Bool { false }
    public static func becameAvailable(in step: Step) throws {}
    public static func archiveRead(in step: Step) throws {}
    public static func contactsKnown(in step: Step) throws {}
    public static func leave(in step: Step) throws -> [String] { [] }
    public static func accountRemoved(in step: Step) throws {}
    public static func accountLoggedOut(in step: Step) throws {}
    public static func arrived(_ message: inout IncomingMessage, in step: Step) throws {}
    public static func stored(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {}
    public static func inserted(_ message: inout Message, from incoming: IncomingMessage, in step: Step) throws {}
    public static func shown(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {}
    public static func moved(_ row: Int64, in step: Step) throws {}
    public static func stateChanged(_ message: Message, in step: Step) throws {}
    public static func acknowledged(_ message: Int64, in step: Step) throws {}
    public static func textChanged(of row: Int64, from old: String?, to text: String?, in step: Step) throws {}
    public static func presence(_ presence: Element, in step: Step) throws {}
    public static func answer(_ request: Element, in step: Step) throws -> RequestAnswer? { nil }
    public static func finish(_ step: Step) throws {}
    public static func unreadMayDiffer(in conversations: [String], step: Step) throws {}
    public static func trustsStamps(of room: JID, in step: Step) throws -> Bool { false }
    public static func roomRead(_ room: JID, problem: String?, in step: Step) throws {}
    public static func takesError(_ message: Element, in step: Step) throws -> Bool { false }
    public static func isVisible(to jid: JID, in step: Step) throws -> Bool { false }
    public static func isRoom(_ jid: JID, in step: Step) throws -> Bool { false }
    public static func keeps(_ stanza: AcceptedStanza, in step: Step) throws -> Bool { false }
    public static func hasReady(for account: Account, in database: Database) throws -> Bool { false }
    public static func queueReady(in step: Step) throws {}
    public static func holds(_ message: Int64, to room: JID, in step: Step) throws -> Bool { false }
    public static func isOwed(by account: Account, in database: Database) throws -> Bool { false }
    public static func isPreparing(_ account: Account, in database: Database) throws -> Bool { false }
    public static func prepare(_ message: Element, in step: Step) throws {}
}

/// The entity whose features are known.
public enum ServerEntity: String, Sendable, Codable {
    /// The account's server.
    case server
    /// The account itself: the server on its behalf.
    case account
}

/// The outcome of a question for the features of the server or of the account.
public enum ServerAnswer {
    /// The features of the entity.
    case known(DiscoveryInfo)
    /// An error. Errors change nothing: a server in trouble still supports the same features.
    case refused
    /// No answer, for the given reason.
    case none(String)
}

/// The answer to a request (RFC 6120 8.2.3).
public enum RequestAnswer {
    /// With or without content.
    case result(Element?)
    /// An error with this condition (RFC 6120 8.3.3).
    case error(StanzaError.Condition)
}
