import KalijAddress
import KalijCore
import KalijStream
import KalijXML

/// Asks the room of an invitation for its name, at the user's request: the room learns that the account is online.
public struct DescribeInvitation: Intent {
    public static let name = "describe_invitation"
    /// The bare address of the room.
    public let room: String

    /// - Parameter room: the address of the room.
    public init(_ room: JID) { self.room = room.bare.description }

    public func check() throws { _ = try JID(room) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let jid = try JID(room)
        guard try InvitationRows(database: step.database, account: step.account.id).invitation(to: jid) != nil else {
            throw IntentFailure(Reason(.notInvited, room))
        }
        try InvitationRequest(intent: id, room: jid.description).send(in: step)
        return .pending
    }
}

/// Stores the name that the room of an invitation gives itself.
struct InvitationRequest: IntentRequest {
    static let name = "rooms.invitation"
    let intent: String
    var attempt = 1
    let room: String

    /// The most bytes of a stored name.
    private static let maxTitleLength = 500

    func request(in step: Step) -> Element { .discovery(DiscoveryInfo.namespace, of: .received(room)) }

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        let info = result?.child("query", DiscoveryInfo.namespace).flatMap { DiscoveryInfo($0) }
        let title = info.map(RoomInfo.init)?.name?.cut(to: Self.maxTitleLength)
        let rows = InvitationRows(database: step.database, account: step.account.id)
        let jid = JID.received(room)
        guard let row = try rows.invitation(to: jid), row.invitation.title != title else { return .done }
        try rows.set(title: title, of: jid)
        step.emit(InvitationDescribed(room: jid, title: title))
        return .done
    }
}
