import KalijStream

/// The description of a room, by its service discovery features (XEP-0045 section 6.4).
package struct RoomInfo: Equatable, Sendable {
    /// The name; nil if the room has none.
    package var name: String?
    /// Whether only members may enter.
    package var isMembersOnly = false
    /// Whether all occupants see the addresses of all others.
    package var isNonAnonymous = false
    /// Whether the room is absent from the service's list.
    package var isHidden = false
    /// Whether the room persists when the last occupant leaves.
    package var isPersistent = false
    /// Whether the room has an archive (XEP-0313).
    package var hasArchive = false
    /// Whether the room marks occupants with stable ids (XEP-0421).
    package var hasOccupantIDs = false

    /// Whether moderators can retract messages (XEP-0425).
    package var moderates = false
    /// The same, in the protocol before version 0.3.
    package var moderatesAsBefore = false

    /// Whether the room reflects messages under the ids that their authors have assigned (XEP-0045 section 7.4).
    package var keepsIDs = false

    /// Whether the room has a picture, or can have one (XEP-0486).
    package var hasPicture = false

    package init() {}

    init(_ info: DiscoveryInfo) {
        name = info.identities.first { $0.category == "conference" }?.name.flatMap { $0.isEmpty ? nil : $0 }
        isMembersOnly = info.supports("muc_membersonly")
        isNonAnonymous = info.supports("muc_nonanonymous")
        isHidden = info.supports("muc_hidden")
        isPersistent = info.supports("muc_persistent")
        hasArchive = info.supports("urn:xmpp:mam:2")
        moderates = info.supports(Moderation.namespace)
        moderatesAsBefore = info.supports(Moderation.former)
        keepsIDs = info.supports("http://jabber.org/protocol/muc#stable_id")
        hasPicture = info.supports("vcard-temp")
        hasOccupantIDs = info.supports("urn:xmpp:occupant-id:0")
    }

    /// Whether the room is a group: members-only and non-anonymous. Any other room is a channel
    /// (https://docs.modernxmpp.org/client/groupchat).
    package var isGroup: Bool { isMembersOnly && isNonAnonymous }
}
