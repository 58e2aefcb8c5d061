import KalijStream

/// Where the account is in a room (XEP-0045 section 7), as a value: takes what happens, and returns what to do.
///
/// The stay belongs to the XEP-0198 session. A resume, also by another process, changes nothing and joins nothing.
/// After a bind every wanted room is asked and joined anew.
package struct RoomMembership: Equatable {
    /// The state of a stay.
    package enum State: String, Sendable {
        /// The user does not want to be in the room.
        case left
        /// The room was asked what it is: joining must not create a room.
        case asking
        /// Presence has left, and a self-ping behind it.
        case joining
        /// The room shows this account as an occupant, and is still telling its state.
        case entering
        /// Everything that the room tells newcomers has come.
        case joined
        /// Perhaps the room has forgotten this account: a self-ping is on its way.
        case doubtful
        /// The room cannot be reached now: tried again later.
        case waiting
        /// The room does not let this account in; the user decides.
        case refused
        /// There is no such room.
        case absent
        /// The room was destroyed.
        case gone

        /// Whether the room knows this account as an occupant, as far as is known here.
        package var isIn: Bool { [.entering, .joined, .doubtful].contains(self) }
        /// Whether the account is in the room, or on its way there without the user.
        package var isUnderway: Bool { isIn || [.asking, .joining].contains(self) }
    }

    package var state: State
    /// How many attempts to get in have failed in a row.
    package var failures: Int
    /// How many other nicknames were tried.
    package var renamings: Int
    /// Whether entering may create the room: a plan wants that.
    package var mayCreate: Bool

    package init(_ state: State = .left, failures: Int = 0, renamings: Int = 0, mayCreate: Bool = false) {
        (self.state, self.failures, self.renamings, self.mayCreate) = (state, failures, renamings, mayCreate)
    }

    /// What happens.
    enum Event: Equatable {
        /// The user wants to be in the room.
        case wanted
        /// A plan wants the room to be made, or to be entered.
        case creating
        /// The user wants to leave.
        case unwanted
        /// A new session may send presence.
        case sessionBegan
        /// The room has said what it is. `shows` tells whether everybody who joins sees the account's address against
        /// its wish.
        case described(shows: Bool)
        /// The room, or a server on the way, has answered with an error.
        case notDescribed(StanzaError)
        /// No answer came in time.
        case unanswered
        /// The room shows this account among its occupants; `isNew` if the room was created by joining.
        case entered(isNew: Bool)
        /// The room has refused the presence.
        case refused(StanzaError)
        /// The room has refused another nickname.
        case nameKept
        /// The room has told its subject, the last of what newcomers are told (7.2.15).
        case told
        /// The answer to a self-ping (XEP-0410 section 3.2).
        case pinged(Presence)
        /// It is not certain any more that the room knows this account.
        case doubted
        /// The room has refused a message because the sender is no occupant, or a server because there is no such room.
        case notAcceptable
        /// The room has shown this account as gone.
        case removed(Removal)
        /// Only the history that a room without an archive tells newcomers can show whether a message has arrived.
        case historyNeeded
        /// The time to try again has come.
        case due
    }

    /// What a self-ping says.
    enum Presence: Equatable { case inside, outside, unknown }

    /// Why an account is no occupant any more.
    enum Removal: Equatable {
        /// Nobody has decided this: a restart, a lost link.
        case technical(String)
        /// Somebody in the room has decided this.
        case decided(String)
        /// The room is destroyed; with the address of another room.
        case destroyed(String?, reason: String?)
    }

    /// What to do.
    enum Action: Equatable {
        /// Ask the room what it is.
        case ask
        /// Send presence, and a self-ping behind it; under another nickname if `renamed`.
        case join(renamed: Bool)
        /// Send a self-ping.
        case ping
        /// Send unavailable presence.
        case leave
        /// Try again after so many seconds.
        case wait(seconds: Int)
        /// Everything that the room tells newcomers is here.
        case settle
        /// The self-ping has shown that the room knows this account.
        case confirm
        /// Not in the room any more, for this reason; nil if the user has left.
        case out(String?)
        /// The room is destroyed; with the address of another room.
        case destroyed(String?)
    }

    /// How many other nicknames are tried.
    private static let mostRenamings = 3
    private static let (shortestWait, longestWait) = (5, 3600)

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .wanted: return state.isIn ? [] : begin()
        case .creating:
            (failures, renamings, mayCreate) = (0, 0, true)
            return join(renamed: false)
        // The room is entered by its plan.
        case .sessionBegan where mayCreate: return []
        case .sessionBegan: return [.left, .refused, .absent, .gone].contains(state) ? [] : begin()
        case .unwanted: return leave()
        case .described, .notDescribed, .unanswered: return asked(event)
        case .entered, .refused, .told: return joining(event)
        case .pinged(let presence): return pinged(presence)
        case .nameKept:
            state = .doubtful
            return [.ping]
        case .doubted:
            guard state == .joined else { return [] }
            state = .doubtful
            return [.ping]
        case .notAcceptable: return state == .joined || state == .doubtful ? ask() : []
        case .removed(let removal): return removed(removal)
        case .historyNeeded: return state == .joined ? join(renamed: false) : []
        case .due: return state == .waiting ? ask() : []
        }
    }

    private mutating func begin() -> [Action] {
        (failures, renamings) = (0, 0)
        return ask()
    }

    private mutating func ask() -> [Action] {
        state = .asking
        return [.ask]
    }

    private mutating func leave() -> [Action] {
        let wasThere = state.isIn || state == .joining
        state = .left
        return (wasThere ? [.leave] : []) + [.out(nil)]
    }

    private mutating func later() -> [Action] {
        state = .waiting
        let seconds = Self.shortestWait << min(failures, 10)
        failures += 1
        return [.wait(seconds: min(seconds, Self.longestWait))]
    }

    private mutating func end(_ state: State, _ reason: String) -> [Action] {
        self.state = state
        return [.out(reason)]
    }

    // MARK: On the way in

    private mutating func asked(_ event: Event) -> [Action] {
        guard state == .asking else { return [] }
        switch event {
        case .described(shows: true):
            let wayOut = "agree when you join (--show-address, or `show_address` in JSON)"
            return end(.refused, "everybody in this open room sees your address: \(wayOut)")
        case .described: return join(renamed: false)
        case .notDescribed(let error) where error.isUnreachable: return later()
        case .notDescribed(let error):
            switch error.condition {
            case .itemNotFound: return end(.absent, "there is no such room")
            case .gone:
                state = .gone
                return [.destroyed(error.newAddress), .out("the room was destroyed")]
            // Some rooms say nothing to strangers: presence will show whether the account may enter.
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
            // The room vanished after it was asked. It is empty, and this account would own it.
            state = .absent
            return [.leave, .out("there is no such room any more")]
        case .entered where state == .joining:
            state = .entering
            return []
        case .told where state == .entering: return settle()
        case .refused(let error) where state == .joining: return refused(error)
        // Unlike at first, the room does not know this account any more.
        case .refused where state.isIn: return ask()
        default: return []
        }
    }

    /// The plan has made the room.
    mutating func made() { mayCreate = false }

    private mutating func settle() -> [Action] {
        (state, failures, renamings) = (.joined, 0, 0)
        return [.settle]
    }

    private mutating func refused(_ error: StanzaError) -> [Action] {
        switch error.condition {
        case .conflict where renamings < Self.mostRenamings:
            renamings += 1
            return join(renamed: true)
        case .conflict: return end(.refused, "the nickname is taken")
        case .forbidden: return end(.refused, "banned from the room")
        case .registrationRequired: return end(.refused, "the room is for members only")
        case .notAuthorized: return end(.refused, "the room wants a password, or another password")
        case .itemNotFound: return end(.absent, "there is no such room, or the room is not open yet")
        case .gone:
            state = .gone
            return [.destroyed(error.newAddress), .out("the room was destroyed")]
        // The room is full (7.2.9).
        case .serviceUnavailable: return later()
        default: return error.isUnreachable ? later() : end(.refused, "\(error)")
        }
    }

    // MARK: Inside

    private mutating func pinged(_ presence: Presence) -> [Action] {
        switch (state, presence) {
        // The answer comes behind everything that the room tells newcomers.
        case (.entering, .inside): return settle()
        case (.doubtful, .inside):
            state = .joined
            return [.confirm]
        case (.doubtful, .unknown):
            state = .joined
            return []
        case (.doubtful, .outside), (.joined, .outside): return ask()
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
            return [.destroyed(other), .out("the room was destroyed" + (reason.map { ": \($0)" } ?? ""))]
        }
    }
}

extension StanzaError {
    /// Whether somebody could not be reached, or asks to try again: the error says nothing about the room.
    var isUnreachable: Bool {
        kind == .wait || [.remoteServerNotFound, .remoteServerTimeout, .internalServerError].contains(condition)
    }
}
