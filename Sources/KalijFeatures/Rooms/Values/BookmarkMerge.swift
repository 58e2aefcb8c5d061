/// What a list of rooms means, compared with the list seen before and with the account's own changes, which are not in
/// the list yet.
///
/// Three ways: the list before, the list now, the own changes. An own change wins. Otherwise the list is the wish of
/// all devices: a room that has gone from the list is left (XEP-0402 section 4).
struct BookmarkMerge {
    /// A room in a list.
    struct Entry: Equatable {
        let autojoin: Bool
        let nick: String?
    }

    /// A change of this device that the list does not show yet.
    enum Change: Int64 {
        case none = 0
        /// The room is to be in the list, as it is wanted here.
        case set = 1
        /// The room is to be in the list no more.
        case removal = 2
    }

    /// What is known here of a room.
    struct Known: Equatable {
        /// In the list as it was seen before; nil if the room was not there.
        let base: Entry?
        let change: Change
        /// Whether the room is wanted here.
        let isWanted: Bool
        /// The nickname that is wanted here.
        var nick: String?
        /// Whether this device has put the room into the list so recently that another device may have written an older
        /// list over it.
        var isRecent = false
    }

    enum Action: Equatable {
        /// Enter, under the nickname if there is one.
        case join(nick: String?)
        case leave
        /// Write the room into the list.
        case write
        /// Take the room out of the list.
        case remove
        /// The own change is in the list.
        case settled
    }

    /// - Parameters:
    ///   - known: what is known here; nil for a room that is not.
    ///   - now: in the list; nil if the room is not there.
    static func actions(_ known: Known?, now: Entry?) -> [Action] {
        guard let known else { return now?.autojoin == true ? [.join(nick: now?.nick)] : [] }
        switch known.change {
        case .removal: return now == nil ? [.settled] : [.remove]
        case .set: return now == Entry(autojoin: known.isWanted, nick: known.nick) ? [.settled] : [.write]
        case .none: return adopt(known, now)
        }
    }

    private static func adopt(_ known: Known, _ now: Entry?) -> [Action] {
        guard let now else {
            guard known.base != nil else { return [] }
            if known.isRecent, known.isWanted { return [.write] }
            return known.isWanted ? [.leave] : []
        }
        if now.autojoin == known.isWanted { return [] }
        // A room that is new in the list, and that this device wants to be in, will be written as soon as it is
        // entered.
        guard let base = known.base else { return now.autojoin ? [.join(nick: now.nick)] : [] }
        guard base.autojoin != now.autojoin else { return [] }
        if !now.autojoin, known.isRecent { return [.write] }
        return now.autojoin ? [.join(nick: now.nick)] : [.leave]
    }
}
