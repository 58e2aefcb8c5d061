import KalijAddress

/// Who has read a message in a group, as far as the members say (XEP-0333).
public struct GroupReading: Sendable, Equatable {
    /// The bare addresses of the members who have read the message, in order.
    public let readers: [JID]
    /// The bare addresses of the other members besides the user, in order.
    public let others: [JID]

    package init(readers: [JID], others: [JID]) { (self.readers, self.others) = (readers, others) }
}
