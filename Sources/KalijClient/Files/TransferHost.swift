import KalijCore

/// The interface of the account's driver for the transfers of the account.
protocol TransferHost: AnyObject {
    /// Whether there is a session.
    var isOnline: Bool { get }
    /// Whether the stream has bytes to send, or awaits an acknowledgement.
    var isLineBusy: Bool { get }
    /// Whether writes to the database are blocked.
    var isBlocked: Bool { get }
    /// When this process has to end, on the loop's clock; nil without a limit.
    var end: Double? { get }
    /// Runs `body`. An error determines whether the process waits, or the account stops.
    func attempt(_ body: () throws -> Void)
    /// Publishes the effects of a committed step.
    func release(_ effects: Step.Effects)
    func emit(_ content: any EventContent)
    /// Writes the queue to the stream.
    func flush()
}
