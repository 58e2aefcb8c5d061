import KalijStore

/// A feature that retains outgoing messages until something has occurred.
public protocol MessageRetainer: Feature {
    /// What the feature retains the message for; nil if it does not retain the message. Only reads, a few rows.
    static func reason(toRetain message: Message, of account: Account, in database: Database) throws -> WaitReason?
}
