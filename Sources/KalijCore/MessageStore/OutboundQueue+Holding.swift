extension OutboundQueue {
    /// Holds all messages back if some of them have been sent before, and an archive may determine whether they arrived.
    ///
    /// Called at the beginning of a connection: the server's count then includes no entry of the queue.
    /// - Parameter isArchived: whether there is, or may be, such an archive (``ArchiveObserver/mayShowOutcomes(in:)``).
    package func hold(_ hold: HoldReason, isArchived: Bool) throws {
        // Messages that the archive returned before the connection ended have arrived, whatever the server's count.
        try removeSettled()
        guard isArchived, try firstSent() != nil else { return _ = try set(.none) }
        if try holding().rawValue < hold.rawValue { try set(hold) }
    }
}
