/// The purpose of a process.
public enum Role: String, Sendable, Codable {
    /// The user's own process: stays online.
    case main
    /// Started by a push: fetches new messages and ends.
    case wake
    /// Hands something over to be sent.
    case share
    /// Sends the remaining stanzas and ends.
    case background
}

/// The present or last driver of a directory's accounts.
public struct FenceOwner: Sendable, Equatable {
    /// The fence's number: grows by one with each new owner.
    public let number: Int64
    /// The purpose of the process.
    public let role: Role
    /// The process.
    public let pid: Int32
    /// Milliseconds since 1970.
    public let since: Int64
    /// Whether the owner released the fence in order before its end.
    public let letGo: Bool
}
