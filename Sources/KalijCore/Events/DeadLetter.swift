/// A handler that could not be called: the type no longer exists, the values are damaged or of a newer version, or the handler failed.
public struct DeadLetter: Sendable {
    /// The source of the input.
    public enum Origin: String, Sendable {
        /// The answer to a request.
        case request
        /// A time.
        case timer
        /// A promise.
        case promise
        /// Not a handler, but a parcel that another process left in the mailbox.
        case share
        /// Not a handler, but a stanza that the server does not accept.
        case queue
    }

    /// The row.
    public let id: Int64
    /// The account's bare address.
    public let account: String
    /// When the handler should have been called, in milliseconds since 1970.
    public let at: Int64
    /// The source of the input.
    public let origin: Origin
    /// The handler's name; empty if the name is not readable.
    public let name: String
    /// Why the handler could not be called, in words.
    public let reason: String
    /// The stored handler, perhaps damaged: `StoredHandler(bytes:)` reads the bound values.
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
