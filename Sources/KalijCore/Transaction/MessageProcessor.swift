import KalijXML

/// A feature that reads incoming messages before they are stored, and decides what they are.
public protocol MessageProcessor: Feature {
    /// A message was received, from any source, and is not stored yet. Called for all processors in their order; later
    /// processors see the changes of earlier ones.
    static func process(_ message: inout IncomingMessage, in step: Step) throws

    /// An error was received for a message (RFC 6120 section 8.3).
    /// - Returns: whether the feature has handled the error; if no feature has, the message has failed.
    static func handlesError(_ message: Element, in step: Step) throws -> Bool
}

extension MessageProcessor {
    public static func process(_ message: inout IncomingMessage, in step: Step) throws {}
    public static func handlesError(_ message: Element, in step: Step) throws -> Bool { false }
}
