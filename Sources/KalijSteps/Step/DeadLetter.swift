/// A handler that could not be called: its type is gone, its values are damaged or of a newer version, or it failed.
public struct DeadLetter: Sendable {
    /// What it waited for.
    public enum Origin: String, Sendable {
        /// The answer to a request.
        case request
        /// A time.
        case timer
        /// A promise.
        case promise
        /// It is no handler, but something that another process left in the mailbox.
        case share
        /// It is no handler, but a stanza that the server does not take.
        case queue
    }

    /// The row.
    public let id: Int64
    /// The account's bare address.
    public let account: String
    /// When it should have been called, in milliseconds since 1970.
    public let at: Int64
    /// What it waited for.
    public let origin: Origin
    /// The handler's name; empty if not even that can be read.
    public let name: String
    /// Why it could not be called, in words.
    public let reason: String
    /// The handler as it was stored, damaged perhaps: `StoredHandler(bytes:)` reads the values that it had bound.
    public let handler: [UInt8]

    package init(id: Int64, account: String, at: Int64, origin: Origin, name: String, reason: String, handler: [UInt8])
    {
        self.id = id
        self.account = account
        self.at = at
        self.origin = origin
        self.name = name
        self.reason = reason
        self.handler = handler
    }
}
