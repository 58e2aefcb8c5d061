import KalijHandlers
import KalijStore
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

    /// What this client says of itself because of the feature (XEP-0030): values of `var`.
    static var announced: [String] { get }

    /// Whether a stanza that was sent with ``Step/send(_:)`` is sent again in a new session, if the one before was lost with the
    /// stanza unacknowledged. So it may arrive twice.
    static func outlivesSession(_ stanza: Element) -> Bool
}

extension Feature {
    public static var migrations: [Migration] { [] }
    public static var handlers: [any Handler<Step>.Type] { [] }
    public static var handlerPrefix: String { name }
    public static func lost(_ letter: DeadLetter, in step: Step) throws {}
    public static var announced: [String] { [] }
    public static func outlivesSession(_ stanza: Element) -> Bool { false }
}
