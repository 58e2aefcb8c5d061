import KalijSteps
import KalijAddress
import KalijStore
import KalijXML

/// The archive of a room (XEP-0313, XEP-0045), which is read as the account's own is.
struct RoomArchive {
    package let step: Step
    package let room: Archive

    /// Asks the room what it can do, then reads its archive from where it was read to its end. Some rooms show it to
    /// occupants only: to be called once the room is joined.
    package func read() throws {
        try step.send(
            .request(.get, Element("query", xmlns: "http://jabber.org/protocol/disco#info"), to: room.recipient),
            then: RoomFeaturesKnown(room: room.key), within: CatchUp.patience)
    }

    package func answered(_ reply: IQReply) throws {
        guard case .result(let iq) = reply else { return tell("the room does not say whether it has an archive") }
        guard iq.check("/<type=result>/{http://jabber.org/protocol/disco#info}query/feature<var=urn:xmpp:mam:2>") else {
            return tell("the room has no archive")
        }
        try CatchUp(step: step, archive: room).beginRoom(trusted: true)
    }

    package func tell(_ problem: String) {
        if let room = room.recipient { step.emit(RoomRead(room: room, problem: problem)) }
    }

    /// Whether the stanza-ids that a room stamps on its messages are those of its archive (XEP-0359 section 5).
    static func isTrusted(_ room: String, in step: Step) throws -> Bool {
        try step.database.statement("SELECT trusted FROM catchup WHERE account = ? AND archive = ?")
            .first([.integer(step.account.id), .text(room)]) { $0.bool() } ?? false
    }
}

extension Step {
    /// Reads the archive of a room that the account has joined, from where it was read to its end; the end is told by
    /// `RoomRead`. To be called after each joining, and after each resumption of the session.
    public func readArchive(of room: JID) throws {
        try RoomArchive(step: self, room: Archive(room: room)).read()
    }

    /// Fetches older history from an archive, in the background: `HistoryFilled` tells the end. It goes
    /// on over sessions and processes.
    /// - Parameters:
    ///   - older: how many messages from before the first that is stored.
    ///   - gaps: whether to fetch what is missing between those that are stored.
    ///   - room: whose archive; nil is the account's own.
    public func fetchHistory(older: Int = 0, gaps: Bool = false, of room: JID? = nil) throws {
        try Filling(step: self, archive: room.map(Archive.init(room:)) ?? .own).want(older: older, gaps: gaps)
    }
}
