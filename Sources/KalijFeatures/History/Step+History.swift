import KalijCore

extension Step {
    /// Whether a message is from before the account was added to this directory: true for messages of the archive's first reading, and
    /// for older history fetched later. False for messages received since, even while no process ran. A bot does not reply to history.
    ///
    /// The server's time is used if it is known (XEP-0202), else the machine's clock minus an hour. In doubt a message is new.
    /// - Throws: `StoreError`
    public func isHistory(_ message: IncomingMessage) throws -> Bool {
        try message.isHistory || message.source == .archive && message.sentAt < ServerTime(step: self).since
    }
}
