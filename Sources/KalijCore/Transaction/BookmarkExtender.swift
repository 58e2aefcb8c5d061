import KalijAddress
import KalijXML

/// A feature with data of rooms that the account's devices share: elements in the `<extensions/>` of a room's bookmark (XEP-0402
/// section 3), such as notification settings (XEP-0492) or pins (XEP-0469).
///
/// The elements are those of all features and clients. A feature changes its own, and preserves the others.
public protocol BookmarkExtender: Feature {
    /// The list of rooms was read: at the beginning of a session, after each change by any device, and immediately before each
    /// write.
    /// - Parameters:
    ///   - room: the bare address of the room.
    ///   - extensions: the elements in the room's bookmark; nil if the list does not contain the room.
    /// - Returns: whether the bookmark is to be written with a change of this feature.
    static func didReadBookmark(of room: JID, extensions: [Element]?, in step: Step) throws -> Bool

    /// The bookmark is being written, for this feature or for another reason. Called after ``didReadBookmark(of:extensions:in:)``
    /// in the same step.
    static func extendBookmark(of room: JID, extensions: inout [Element], in step: Step) throws

    /// The server has acknowledged the bookmark as it was written last. Other devices may have overwritten it since.
    static func didWriteBookmark(of room: JID, in step: Step) throws
}

extension BookmarkExtender {
    public static func didWriteBookmark(of room: JID, in step: Step) throws {}
}
