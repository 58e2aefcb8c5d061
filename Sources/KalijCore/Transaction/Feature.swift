import KalijHandlers
import KalijStore

/// A part of the work for an account: a chat feature of the engine, or an application.
///
/// This protocol has what each feature declares: its name, its tables, its handlers, events and intents. What a feature does
/// besides are capabilities, protocols that the feature conforms to where it has them: ``SessionObserver``, ``AccountObserver``,
/// ``ArchiveObserver``, ``StanzaInterceptor``, ``MessageProcessor``, ``StoredMessageObserver``, ``PresenceObserver``,
/// ``RequestResponder``, ``OutgoingMessageInterceptor``, ``OutgoingMessageDecorator``, ``MessageRetainer``, ``RoomProvider``,
/// ``BookmarkExtender``, ``TransactionObserver``, ``WorkReporter``; and `ServiceProvider` in the engine alone, because an application
/// has a thread of its own for such work.
///
/// The engine's own features are listed in `Features.own`. An application is a feature too: the options of its engine
/// name the feature (``Engine/Options/features``). An application keeps tables of its own in the accounts' database,
/// and its handlers are called.
public protocol Feature: CapabilityDeclaration {
    /// A word. The names of the feature's migrations begin with this word (`messages/1`), and, without a
    /// ``handlerPrefix``, the names of its handlers (`messages.settled`). The name of an application's feature begins
    /// with a domain of the author: `org.example.bot`. Never changed after a release.
    static var name: String { get }

    /// The migrations of the feature's tables, in order. A released migration is never changed; new migrations are
    /// added.
    static var migrations: [Migration] { get }

    /// The feature's stored handlers. All processes that drive a directory must register the same ones.
    static var handlers: [any Handler<Step>.Type] { get }

    /// The beginning of the handlers' names, before the last full stop.
    static var handlerPrefix: String { get }

    /// A handler of the feature was given up; the work that waits for the handler has to continue without it.
    /// - Throws: an error that makes the whole step void.
    static func handlerDeadLettered(_ letter: DeadLetter, in step: Step) throws

    /// The feature's events.
    static var events: [any EventContent.Type] { get }

    /// The event about a message that was stored as `kind` (``MessageEvent/kind``); nil if the kind is not this
    /// feature's.
    static func event(_ kind: String, of message: Message) -> (any MessageEvent)?

    /// The types of the changes that the user can request from this feature.
    static var intents: [any Intent.Type] { get }

    /// The features that this client announces (XEP-0030): values of `var`.
    static var announced: [String] { get }

    /// The feature's part of `kalij status` for an account, in a time that does not grow with the number of messages.
    static func status(of account: Account, in database: Database) throws -> [EventField]
}

extension Feature {
    public static var migrations: [Migration] { [] }
    public static var handlers: [any Handler<Step>.Type] { [] }
    public static var handlerPrefix: String { name }
    public static func handlerDeadLettered(_ letter: DeadLetter, in step: Step) throws {}
    public static var events: [any EventContent.Type] { [] }
    public static func event(_ kind: String, of message: Message) -> (any MessageEvent)? { nil }
    public static var intents: [any Intent.Type] { [] }
    public static var announced: [String] { [] }
    public static func status(of account: Account, in database: Database) throws -> [EventField] { [] }
}
