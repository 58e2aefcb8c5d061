import KalijText

/// What an outgoing message in the state ``MessageState/queued`` waits for.
public enum WaitReason: Sendable, Equatable {
    /// The message is in the mailbox: no driver has imported it yet.
    case driver
    /// There is no connection; with the reason, if the driver has reported one (``DriverReport``).
    case connection(Reason?)
    /// The archive is read first: it determines which earlier messages have arrived.
    case archive
    /// Keys are fetched or published (XEP-0384); with the reason, in words, if they are unavailable at present.
    case keys(String?)
    /// The other side does not want encryption any more (XEP-0384 section 9): the user decides.
    case decision
    /// The account is not in the room; with the reason, if the room or its server has given one.
    case room(Reason?)
    /// The lists of the group's members are queried: the message is encrypted for all of them.
    case members
    /// It is undetermined whether the room has received an earlier message.
    case earlier
    /// Nothing: the message is about to be sent.
    case nothing

    /// The word in JSON.
    public var word: String {
        switch self {
        case .driver: "driver"
        case .connection: "connection"
        case .archive: "archive"
        case .keys: "keys"
        case .decision: "decision"
        case .room: "room"
        case .members: "members"
        case .earlier: "earlier"
        case .nothing: "nothing"
        }
    }

    /// Why, in words; nil if nothing is known beyond the case.
    public var details: String? {
        switch self {
        case .connection(let reason), .room(let reason): reason?.description
        case .keys(let words): words
        case .driver, .archive, .decision, .members, .earlier, .nothing: nil
        }
    }

    /// The words for a person; nil if the message is about to be sent.
    var line: PrintedText? {
        let words: PrintedText? =
            switch self {
            case .driver: "a driving process"
            case .connection: "a connection"
            case .archive: "the archive, which is read first"
            case .keys: "keys"
            case .decision: "a decision: the other side does not want encryption any more"
            case .room: "the room, which is not entered"
            case .members: "the members of the group"
            case .earlier: "an earlier message, whose outcome is unknown"
            case .nothing: nil
            }
        return words.map { "\($0)\(details.map { ": \($0)" } ?? "")" }
    }
}

extension WaitReason {
    /// - Parameters:
    ///   - isInMailbox: whether the message is in the mailbox.
    ///   - isDriven: whether a process drives the directory.
    ///   - isHeld: whether the session's queue holds the message (``OutboundQueue/holding()``).
    ///   - feature: what a feature retains the message for.
    package init(isInMailbox: Bool, isDriven: Bool, isHeld: Bool, feature: WaitReason?) {
        self =
            isInMailbox ? .driver : !isDriven ? .connection(nil) : feature ?? (isHeld ? .archive : .nothing)
    }

    /// The reason while the connection is in a state that no row of the database has. Without a connection, nothing else can end.
    /// - Parameter state: nil if the state is unknown.
    package func over(_ state: AccountState?) -> WaitReason {
        guard let state, state.stage != .online, self != .driver else { return self }
        return .connection(state.reason)
    }
}
