import KalijLab

/// What the servers of the tests do differently, where an expectation depends on it (Documentation/ServerFacts.md).
extension ServerKind {
    /// Whether the archive erases a message with the retraction that comes after it, and a device that has not seen the message
    /// never sees it.
    var erasesRetracted: Bool { self == .ejabberd && DebianRelease.standard != .installed }

    /// Whether a message that was archived comes back to its sender if the session of a client ends that has not read the archive
    /// yet, and another client is online.
    var bouncesWhatIsArchived: Bool { self == .prosody }
}
