import KalijCore
import KalijStream

/// The membership of the account in a room (XEP-0045 section 7), as a value: takes events, and returns actions.
///
/// The membership belongs to the XEP-0198 session. A resume, also by another process, does not change it. After a bind every room that
/// the user has joined is queried and joined anew.
package struct RoomMembership: Equatable {
    /// The state of a stay.
    package enum State: String, Sendable {
        /// The user does not intend to be in the room.
        case left
        /// The description of the room was requested: joining must not create a room.
        case asking
        /// Presence was sent, and a self-ping after it.
        case joining
        /// The room has sent the account's own presence, and the join sequence is not complete.
        case entering
        /// The join sequence was received completely.
        case joined
        /// The room may have removed this account: a self-ping is pending.
        case doubtful
        /// The room is unreachable; retried later.
        case waiting
        /// The room does not admit this account; the user decides.
        case refused
        /// The room does not exist.
        case absent
        /// The room was destroyed.
        case gone

        /// Whether the account is an occupant, as far as can be determined here.
        package var isIn: Bool { [.entering, .joined, .doubtful].contains(self) }
        /// Whether the account is in the room, or entering it without the user's involvement.
        package var isUnderway: Bool { isIn || [.asking, .joining].contains(self) }
    }

    package var state: State
    /// The number of consecutive failed attempts to enter.
    package var failures: Int
    /// The number of alternative nicknames that were tried.
    package var renamings: Int
    /// Whether entering may create the room, on behalf of a plan.
    package var mayCreate: Bool

    package init(_ state: State = .left, failures: Int = 0, renamings: Int = 0, mayCreate: Bool = false) {
        (self.state, self.failures, self.renamings, self.mayCreate) = (state, failures, renamings, mayCreate)
    }

    /// An event.
    enum Event: Equatable {
        /// The user enters the room.
        case joinRequested
        /// A plan requires the room to be created or entered.
        case creating
        /// The user leaves the room.
        case leaveRequested
        /// A new session may send presence.
        case sessionBegan
        /// The description of the room was received. `shows` specifies whether joining would disclose the account's address to
        /// everybody without the user's consent.
        case described(shows: Bool)
        /// The room, or an intermediate server, has responded with an error.
        case notDescribed(StanzaError)
        /// The response timed out.
        case unanswered
        /// The room has sent the account's own presence; `isNew` if joining has created the room.
        case entered(isNew: Bool)
        /// The room has rejected the presence.
        case refused(StanzaError)
        /// The room has rejected a change of the nickname.
        case nameKept
        /// The subject was received, the last stanza of the join sequence (7.2.15).
        case subjectReceived
        /// The response to a self-ping (XEP-0410 section 3.2).
        case pinged(Presence)
        /// It is uncertain whether the account is still an occupant.
        case doubted
        /// The room has rejected a message because the sender is no occupant, or a server because the room does not exist.
        case notAcceptable
        /// The room has removed this account.
        case removed(Removal)
        /// Only the history that a room without an archive sends on joining can show whether a message has arrived.
        case historyNeeded
        /// The delay before the next attempt has expired.
        case due
    }

    /// The conclusion of a self-ping.
    enum Presence: Equatable { case inside, outside, unknown }

    /// The reason why an account is no longer an occupant.
    enum Removal: Equatable {
        /// No occupant has caused the removal: a restart, a lost connection.
        case technical
        /// An occupant has caused the removal.
        case decided(Reason)
        /// The room was destroyed; with the alternative address.
        case destroyed(String?, reason: String?)
    }

    /// An action.
    enum Action: Equatable {
        /// Request the description of the room.
        case requestInfo
        /// Send presence, and a self-ping after it; under another nickname if `renamed`.
        case join(renamed: Bool)
        /// Send a self-ping.
        case ping
        /// Send unavailable presence.
        case leave
        /// Try again after the given number of seconds.
        case wait(seconds: Int)
        /// Complete the join: the join sequence was received.
        case settle
        /// The self-ping has confirmed that the account is an occupant.
        case confirm
        /// The account is no longer in the room, for this reason; nil if the user has left.
        case out(Reason?)
        /// The room was destroyed; with the alternative address.
        case destroyed(String?)
    }

    /// The maximum number of alternative nicknames.
    private static let maxRenamings = 3
    private static let (minWait, maxWait) = (5, 3600)

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .joinRequested: return state.isIn ? [] : begin()
        case .creating:
            (failures, renamings, mayCreate) = (0, 0, true)
            return join(renamed: false)
        // The plan enters the room itself.
        case .sessionBegan where mayCreate: return []
        case .sessionBegan: return [.left, .refused, .absent, .gone].contains(state) ? [] : begin()
        case .leaveRequested: return leave()
        case .described, .notDescribed, .unanswered: return handleInfo(event)
        case .entered, .refused, .subjectReceived: return joining(event)
        case .pinged(let presence): return pinged(presence)
        case .nameKept:
            state = .doubtful
            return [.ping]
        case .doubted:
            guard state == .joined else { return [] }
            state = .doubtful
            return [.ping]
        case .notAcceptable: return state == .joined || state == .doubtful ? requestInfo() : []
        case .removed(let removal): return removed(removal)
        case .historyNeeded: return state == .joined ? join(renamed: false) : []
        case .due: return state == .waiting ? requestInfo() : []
        }
    }

    private mutating func begin() -> [Action] {
        (failures, renamings) = (0, 0)
        return requestInfo()
    }

    private mutating func requestInfo() -> [Action] {
        state = .asking
        return [.requestInfo]
    }

    private mutating func leave() -> [Action] {
        let wasThere = state.isIn || state == .joining
        state = .left
        return (wasThere ? [.leave] : []) + [.out(nil)]
    }

    private mutating func later() -> [Action] {
        state = .waiting
        let seconds = Self.minWait << min(failures, 10)
        failures += 1
        return [.wait(seconds: min(seconds, Self.maxWait))]
    }

    private mutating func end(_ state: State, _ reason: Reason) -> [Action] {
        self.state = state
        return [.out(reason)]
    }

    // MARK: Entering

    private mutating func handleInfo(_ event: Event) -> [Action] {
        guard state == .asking else { return [] }
        switch event {
        case .described(shows: true): return end(.refused, Reason(.roomShowsAddress))
        case .described: return join(renamed: false)
        case .notDescribed(let error) where error.isUnreachable: return later()
        case .notDescribed(let error):
            switch error.condition {
            case .itemNotFound: return end(.absent, Reason(.noRoom))
            case .gone:
                state = .gone
                return [.destroyed(error.newAddress), .out(Reason(.roomDestroyed, ""))]
            // Some rooms do not describe themselves to outsiders: the response to the presence shows whether the account may enter.
            default: return join(renamed: false)
            }
        default: return later()
        }
    }

    private mutating func join(renamed: Bool) -> [Action] {
        state = .joining
        return [.join(renamed: renamed)]
    }

    private mutating func joining(_ event: Event) -> [Action] {
        switch event {
        case .entered(isNew: true) where state == .joining && !mayCreate:
            // The room was destroyed after the query. It is empty, and this account would own it.
            state = .absent
            return [.leave, .out(Reason(.noRoom))]
        case .entered where state == .joining:
            state = .entering
            return []
        case .subjectReceived where state == .entering: return settle()
        case .refused(let error) where state == .joining: return refused(error)
        // The account was admitted before: the room has removed it since.
        case .refused where state.isIn: return requestInfo()
        default: return []
        }
    }

    /// The plan has created the room.
    mutating func made() { mayCreate = false }

    private mutating func settle() -> [Action] {
        (state, failures, renamings) = (.joined, 0, 0)
        return [.settle]
    }

    private mutating func refused(_ error: StanzaError) -> [Action] {
        switch error.condition {
        case .conflict where renamings < Self.maxRenamings:
            renamings += 1
            return join(renamed: true)
        case .conflict: return end(.refused, Reason(.nicknameTaken))
        case .forbidden: return end(.refused, Reason(.roomBanned, ""))
        case .registrationRequired: return end(.refused, Reason(.roomForMembers, ""))
        case .notAuthorized: return end(.refused, Reason(.roomPassword))
        case .itemNotFound: return end(.absent, Reason(.roomNotOpen))
        case .gone:
            state = .gone
            return [.destroyed(error.newAddress), .out(Reason(.roomDestroyed, ""))]
        // The room is full (7.2.9).
        case .serviceUnavailable: return later()
        default: return error.isUnreachable ? later() : end(.refused, Reason(error))
        }
    }

    // MARK: Inside

    private mutating func pinged(_ presence: Presence) -> [Action] {
        switch (state, presence) {
        // The response follows the whole join sequence.
        case (.entering, .inside): return settle()
        case (.doubtful, .inside):
            state = .joined
            return [.confirm]
        case (.doubtful, .unknown):
            state = .joined
            return []
        case (.doubtful, .outside), (.joined, .outside): return requestInfo()
        case (.joining, .unknown), (.entering, .unknown): return later()
        default: return []
        }
    }

    private mutating func removed(_ removal: Removal) -> [Action] {
        guard state.isIn || state == .joining else { return [] }
        switch removal {
        case .technical: return later()
        case .decided(let reason): return end(.refused, reason)
        case .destroyed(let other, let reason):
            state = .gone
            return [.destroyed(other), .out(Reason(.roomDestroyed, reason.map { ": \($0)" } ?? ""))]
        }
    }
}

extension StanzaError {
    /// Whether an entity was unreachable, or requests a retry: the error does not concern the room itself.
    var isUnreachable: Bool {
        kind == .wait || [.remoteServerNotFound, .remoteServerTimeout, .internalServerError].contains(condition)
    }
}
