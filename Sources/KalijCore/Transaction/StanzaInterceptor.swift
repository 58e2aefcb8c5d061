import KalijStore
import KalijXML

/// A feature that takes an inbound stanza out of the common path, or a message out of its wrapper: a copy from another client, a
/// result of an archive, a request whose sender may not learn whether the account is online.
public protocol StanzaInterceptor: Feature {
    /// Handles stanzas as a whole, instead of the common path.
    /// - Parameters:
    ///   - stanzas: one stanza, or consecutive results of one page of an archive.
    ///   - origin: where the stanzas come from.
    /// - Returns: whether the stanzas were handled.
    static func intercept(_ stanzas: [Element], from origin: StanzaOrigin, in step: Step) throws -> Bool

    /// Whether the feature waits for the stanza: then the attempts to handle the stanza are counted, and the last one is followed by
    /// the quarantine.
    static func isAwaiting(_ stanza: Element, for account: Account, in database: Database) throws -> Bool

    /// The ids of the feature's open queries: the only difference between a stanza and its repetition.
    static func openQueries(of account: Account, in database: Database) throws -> [String]
}

extension StanzaInterceptor {
    public static func isAwaiting(_ stanza: Element, for account: Account, in database: Database) throws -> Bool {
        false
    }
    public static func openQueries(of account: Account, in database: Database) throws -> [String] { [] }
}

/// Where an inbound stanza comes from.
public enum StanzaOrigin {
    /// The stream: the stanza arrives.
    case stream
    /// The quarantine, which has reserved an order number for a message.
    case quarantine(position: Int64?)

    /// The reserved order number; nil if the message gets the next one.
    public var position: Int64? { if case .quarantine(let position) = self { position } else { nil } }
}
