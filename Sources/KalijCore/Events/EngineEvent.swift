import KalijAddress

/// An event, emitted after its commit.
public struct EngineEvent: Sendable {
    /// The account's bare address.
    public let account: JID
    /// Milliseconds since 1970.
    public let at: Int64
    /// The content: a value of the feature's type, such as `MessageStored` or ``Online``.
    public let content: any EventContent
    /// The event's place among events about messages, in all accounts of the directory; nil for all other events.
    /// Numbers only grow, and some are left out. `EventLog` has the events after a number.
    public package(set) var number: Int64?

    package init(account: JID, at: Int64, content: any EventContent, number: Int64? = nil) {
        self.account = account
        self.at = at
        self.content = content
        self.number = number
    }
}
