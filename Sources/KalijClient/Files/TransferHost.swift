import KalijSteps

/// What the files of an account need of the account's driver.
protocol TransferHost: AnyObject {
    /// Whether there is a session.
    var isOnline: Bool { get }
    /// Whether the stream has something to send, or waits for an acknowledgement.
    var isLineBusy: Bool { get }
    /// Whether the database cannot be written.
    var isBlocked: Bool { get }
    /// When this process has to end, on the loop's clock; nil for no such time.
    var end: Double? { get }
    /// Runs `body`. An error decides whether the process waits, or the account stops.
    func attempt(_ body: () throws -> Void)
    /// Lets out the effects of a committed step.
    func release(_ effects: Step.Effects)
    func emit(_ content: any EventContent)
    /// Writes the queue.
    func flush()
}
