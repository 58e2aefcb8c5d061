import KalijAddress
import KalijCore
import KalijStream
import KalijText
import KalijXML

/// A parsed presence of a room (XEP-0045 sections 7 to 10).
struct RoomPresence {
    /// The nickname; nil if the presence is of the room itself.
    let nick: String?
    let isAvailable: Bool
    /// The codes of `<status/>`.
    let statuses: Set<Int>
    /// The occupant; nil if the presence has no item.
    let occupant: Occupant?
    /// The new nickname, if the nickname changes (section 7.6).
    let newNick: String?
    let reason: String?
    /// Whether the room was destroyed (section 10.9); with the alternative address.
    let destroyed: (successor: String?, reason: String?)?

    /// The maximum length in bytes.
    private static let maxReasonLength = 1000

    init(_ presence: Element, of sender: JID) {
        nick = sender.resource
        isAvailable = presence["type"] == nil
        let x = presence.child("x", RoomCoordinator.user)
        statuses = Set((x?.children("status") ?? []).compactMap { $0["code"].flatMap { Int($0) } })
        let item = x?.child("item")
        newNick = item?["nick"].flatMap { $0.utf8.count <= JID.longestPart ? $0 : nil }
        reason = item?.child("reason").map { $0.text.cut(to: Self.maxReasonLength) }
        occupant = nick.flatMap { nick in
            item.map {
                Occupant(
                    nick: nick, jid: Self.address($0["jid"]),
                    occupantID: OccupantID.of(presence), affiliation: Occupant.validated($0["affiliation"]),
                    role: Occupant.validated($0["role"]))
            }
        }
        destroyed = x?.child("destroy").map { destroy in
            (
                destroy["jid"],
                destroy.child("reason").flatMap { $0.text.isEmpty ? nil : $0.text.cut(to: Self.maxReasonLength) }
            )
        }
    }

    /// The bare address in a received attribute, of any length; nil if it is invalid.
    static func address(_ text: String?) -> JID? {
        text.map { JID.received($0).bare }.flatMap { $0.isPrepared ? $0 : nil }
    }

    /// Whether the room marks the presence as this account's (status 110).
    var isOwn: Bool { statuses.contains(110) }

    /// The reason why an occupant was removed.
    var removal: RoomMembership.Removal {
        if let destroyed { return .destroyed(destroyed.successor, reason: destroyed.reason) }
        // First the technical reasons: Prosody reports a lost connection together with a kick.
        if statuses.contains(333) { return .technical }
        if statuses.contains(332) { return .technical }
        if statuses.contains(301) { return .decided(Reason(.roomBanned, reasonText)) }
        if statuses.contains(307) { return .decided(Reason(.roomRemoved, reasonText)) }
        if statuses.contains(321) { return .decided(Reason(.roomMemberNoMore, reasonText)) }
        if statuses.contains(322) { return .decided(Reason(.roomForMembersNow, reasonText)) }
        return .technical
    }

    private var reasonText: String { reason.map { $0.isEmpty ? "" : ": \($0)" } ?? "" }
}

/// The stable id that a room gives an occupant (XEP-0421).
enum OccupantID {
    private static let maxLength = 1000

    static func of(_ stanza: Element) -> String? {
        let id = stanza.child("occupant-id", "urn:xmpp:occupant-id:0")?["id"]
        return id.flatMap { $0.isEmpty || $0.utf8.count > maxLength ? nil : $0 }
    }
}
