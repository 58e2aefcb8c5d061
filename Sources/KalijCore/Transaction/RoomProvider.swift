import KalijAddress

/// A feature that keeps rooms (XEP-0045).
public protocol RoomProvider: Feature {
    /// Whether messages to `jid` are for all occupants of a room (XEP-0045 section 7.4).
    static func isRoom(_ jid: JID, in step: Step) throws -> Bool

    /// Whether the stanza-ids of a room's messages are the ids of its archive (XEP-0359 section 5).
    static func trustsStanzaIDs(of room: JID, in step: Step) throws -> Bool

    /// Whether `jid` sees that the account is online though it is no contact.
    static func sharesPresence(with jid: JID, in step: Step) throws -> Bool
}

extension RoomProvider {
    public static func isRoom(_ jid: JID, in step: Step) throws -> Bool { false }
    public static func trustsStanzaIDs(of room: JID, in step: Step) throws -> Bool { false }
    public static func sharesPresence(with jid: JID, in step: Step) throws -> Bool { false }
}
