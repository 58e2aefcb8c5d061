import KalijAddress
import KalijTransport

/// Something that happened, told after it was committed.
public struct EngineEvent: Sendable {
    /// The account's bare address.
    public let account: JID
    /// Milliseconds since 1970.
    public let at: Int64
    /// What happened.
    public let kind: Kind

    package init(account: JID, at: Int64, kind: Kind, number: Int64? = nil) {
        self.account = account
        self.at = at
        self.kind = kind
        self.number = number
    }
    /// The event's place among those about messages, in all accounts of the directory: of `message`, `state` and `unsettled`,
    /// and nil of all others. Numbers only grow, and some are left out. ``EventLog`` has what came after one.
    public package(set) var number: Int64?

    /// What there is to tell.
    public enum Kind: Sendable {
        /// A connection is being made.
        case connecting
        /// A session is there; `resumed` if it is the one of before.
        case online(jid: String, resumed: Bool)
        /// The connection is gone; the next one is tried in `retryIn` seconds, or never if that is nil.
        case offline(reason: String, retryIn: Double?)
        /// The server refuses the login for good.
        case refused(reason: String)
        /// A message was stored.
        case message(Message)
        /// The state of an outgoing message changed.
        case state(Message)
        /// An outgoing message was sent in a session that is lost; whether it arrived is not known.
        case unsettled(Message)
        /// The archive was read to its end, or reading it ended for another reason.
        case caughtUp(problem: String?)
        /// A room's archive was read to its end, or reading it ended for another reason.
        case roomRead(room: JID, problem: String?)
        /// Older history that was asked for has come, `messages` of it new; or not, for the reason that is given. `room` is
        /// nil for the account's own archive.
        case historyFilled(room: JID?, messages: Int, problem: String?)
        /// A stanza was set aside unprocessed; `kalij status` lists it.
        case quarantined(reason: String, sender: String?)
        /// A stored handler could not be called; `kalij status` lists it.
        case deadLetter(DeadLetter)
        /// The account was logged out; `removed` if everything that was stored about it is gone too.
        case loggedOut(removed: Bool)
        /// The database cannot be written; nothing is acknowledged and no stanza is lost meanwhile.
        case waitingForStorage(reason: String, retryIn: Double)
        /// The database can be written again.
        case storageAvailable
        /// This many events were not told, because whoever reads them has not kept up (``EngineEvents``): the database has
        /// what they would have told.
        case missed(Int)
        /// A step took over 100 ms.
        case slowStep(kind: String, milliseconds: Int64)
    }
}
