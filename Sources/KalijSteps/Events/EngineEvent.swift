import KalijAddress

/// Something that happened, told after it was committed.
public struct EngineEvent: Sendable {
    /// The account's bare address.
    public let account: JID
    /// Milliseconds since 1970.
    public let at: Int64
    /// What happened: a value of the feature that it is about, such as `MessageStored` or ``Online``.
    public let content: any EventContent
    /// The event's place among those about messages, in all accounts of the directory, and nil of all others. Numbers only grow, and
    /// some are left out. `EventLog` has what came after one.
    public package(set) var number: Int64?

    package init(account: JID, at: Int64, content: any EventContent, number: Int64? = nil) {
        self.account = account
        self.at = at
        self.content = content
        self.number = number
    }
}
