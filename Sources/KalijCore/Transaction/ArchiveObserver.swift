import KalijAddress

/// A feature that acts on missed messages as soon as all of them are stored (XEP-0313).
public protocol ArchiveObserver: Feature {
    /// The account's archive was read to its end: the missed messages are stored.
    static func didSyncArchive(in step: Step) throws

    /// The archive of `room` was read to its end; or it was not, for the reason `problem`.
    static func didSyncRoomArchive(_ room: JID, problem: String?, in step: Step) throws
}

extension ArchiveObserver {
    public static func didSyncArchive(in step: Step) throws {}
    public static func didSyncRoomArchive(_ room: JID, problem: String?, in step: Step) throws {}
}
