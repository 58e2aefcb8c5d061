/// A feature with work that belongs to the end of a step or of its transaction.
public protocol TransactionObserver: Feature {
    /// The step ends. More steps may follow before the commit.
    static func willEnd(_ step: Step) throws

    /// In `conversations`, other messages may be unread than before. Called before the commit; once, if more steps than `step` are
    /// committed together.
    static func didInvalidateUnread(in conversations: [String], step: Step) throws
}

extension TransactionObserver {
    public static func willEnd(_ step: Step) throws {}
    public static func didInvalidateUnread(in conversations: [String], step: Step) throws {}
}
