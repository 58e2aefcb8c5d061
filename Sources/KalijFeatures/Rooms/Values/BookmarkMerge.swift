/// Determines what a change of the list implies, compared with the list as it was last read and with this device's own changes, which
/// are not in the list yet.
///
/// A three-way merge: the list before, the list now, the own changes. An own change has precedence. Otherwise the list represents the
/// intention of all devices: a room that was removed from the list is left (XEP-0402 section 4).
struct BookmarkMerge {
    /// A room in a list.
    struct Entry: Equatable {
        let autojoin: Bool
        let nick: String?
    }

    /// A change of this device that the list does not show yet.
    enum Change: Int64 {
        case none = 0
        /// The room is to be in the list, in the state that it has here.
        case set = 1
        /// The room is to be removed from the list.
        case removal = 2
    }

    /// The local state of a room.
    struct Known: Equatable {
        /// The entry in the list as it was last read; nil if the room was not there.
        let base: Entry?
        let change: Change
        /// Whether the user intends to be in the room.
        let isWanted: Bool
        /// The nickname chosen on this device.
        var nick: String?
        /// Whether this device has written the room so recently that another device may have overwritten it with an older list.
        var isRecent = false
    }

    enum Action: Equatable {
        /// Enter, under the nickname if there is one.
        case join(nick: String?)
        case leave
        /// Write the room into the list.
        case write
        /// Remove the room from the list.
        case remove
        /// The own change is in the list.
        case settled
    }

    /// - Parameters:
    ///   - known: the local state; nil for a room without one.
    ///   - now: the entry in the list; nil if the room is not there.
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
        // A room that is new in the list, and that the user has joined here, will be written as soon as it is entered.
        guard let base = known.base else { return now.autojoin ? [.join(nick: now.nick)] : [] }
        guard base.autojoin != now.autojoin else { return [] }
        if !now.autojoin, known.isRecent { return [.write] }
        return now.autojoin ? [.join(nick: now.nick)] : [.leave]
    }
}
