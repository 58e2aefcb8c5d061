import KalijXML

/// A feature that reads presence (RFC 6121 section 4).
public protocol PresenceObserver: Feature {
    /// A presence stanza was received, of any type.
    static func didReceivePresence(_ presence: Element, in step: Step) throws
}
