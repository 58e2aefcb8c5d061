/// What a process is for.
public enum Role: String, Sendable, Codable {
    /// The user's own process: stays online.
    case main
    /// Woken by a push: fetches what is new and ends.
    case wake
    /// Hands something over to be sent.
    case share
    /// Sends what is left and ends.
    case background
}

/// Who drives the accounts of a directory, or did so last.
public struct Owner: Sendable, Equatable {
    /// The fence's number: grows by one with each taking over.
    public let number: Int64
    /// What its process is there for.
    public let role: Role
    /// Its process.
    public let pid: Int32
    /// Milliseconds since 1970.
    public let since: Int64
    /// Whether the owner let everything go before it ended.
    public let letGo: Bool
}
