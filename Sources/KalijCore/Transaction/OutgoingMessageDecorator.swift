import KalijXML

/// A feature that adds elements to the user's messages.
public protocol OutgoingMessageDecorator: Feature {
    /// A user's message to a person is about to be queued: adds the feature's elements to the stanza, 100 bytes at
    /// most.
    static func decorate(_ message: Element, in step: Step) throws
}
