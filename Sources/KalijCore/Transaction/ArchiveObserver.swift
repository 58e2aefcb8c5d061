import KalijAddress

/// A feature that acts on missed messages as soon as all of them are stored (XEP-0313).
public protocol ArchiveObserver: Feature {
    /// The account's archive was read to its end: the missed messages are stored.
    static func didSyncArchive(in step: Step) throws

    /// Whether there is, or may be, an archive that determines whether messages of a lost session have arrived.
    static func mayShowOutcomes(in step: Step) throws -> Bool

    /// The last message up to which the account's archive was read without a gap before it; nil if nothing was read. A message that
    /// is sent records it, and is found behind it in case its outcome is unknown.
    static func lastArchived(in step: Step) throws -> (id: String, position: Int64)?

    /// The archive of `room` was read to its end; or it was not, for the reason `problem`.
    static func didSyncRoomArchive(_ room: JID, problem: String?, in step: Step) throws
}

extension ArchiveObserver {
    public static func didSyncArchive(in step: Step) throws {}
    public static func mayShowOutcomes(in step: Step) throws -> Bool { false }
    public static func lastArchived(in step: Step) throws -> (id: String, position: Int64)? { nil }
    public static func didSyncRoomArchive(_ room: JID, problem: String?, in step: Step) throws {}
}
