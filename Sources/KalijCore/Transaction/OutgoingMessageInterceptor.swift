import KalijAddress
import KalijStore

/// A feature that keeps outgoing messages outside of the queue until they may leave.
public protocol OutgoingMessageInterceptor: Feature {
    /// A stanza of the user's was accepted, and is about to be queued. All interceptors are called, the last of the list first.
    /// - Returns: whether the feature keeps the stanza, and queues the stanza itself when it may leave.
    /// - Throws: an error whose description states why the message cannot be sent.
    static func intercepts(_ stanza: AcceptedStanza, in step: Step) throws -> Bool

    /// Whether the feature may have stanzas that can leave now, to be queued by ``enqueuePending(in:)``. Called in no step, before
    /// each writing of the queue.
    static func hasPendingOutgoing(for account: Account, in database: Database) throws -> Bool

    /// The connection has room: the feature queues some of what it keeps.
    static func enqueuePending(in step: Step) throws

    /// Whether the message to a room in the row `message` waits for this feature, though it could leave now; and with it everything
    /// later in the room.
    static func defers(_ message: Int64, to room: JID, in step: Step) throws -> Bool
}

extension OutgoingMessageInterceptor {
    public static func hasPendingOutgoing(for account: Account, in database: Database) throws -> Bool { false }
    public static func enqueuePending(in step: Step) throws {}
    public static func defers(_ message: Int64, to room: JID, in step: Step) throws -> Bool { false }
}
