import KalijAddress
import KalijHandlers
import KalijSteps
import KalijStore
import KalijStream
import KalijXML

/// The rooms that all devices of the account want to be in. Read after each bind, after each change by another device,
/// and right before each change of this device; then what differs is written, a room at a time.
struct Bookmarks {
    let step: Step
    private var rows: BookmarkRows { BookmarkRows(database: step.database, account: step.account.id) }
    private var rooms: RoomCoordinator { RoomCoordinator(step: step) }
    private var account: Value { .integer(step.account.id) }

    /// The most rooms of a list that are looked at.
    private static let most = 1000
    /// For so many milliseconds after a write another device may write an older list over it.
    private static let settling: Int64 = 60_000
    /// A server may confirm a room and list it otherwise, without the nickname for example, or from a replica that is behind.
    static let writing = RequestPace(5, atOnceThen: .seconds(60), upTo: .seconds(24 * 3600))

    // MARK: The session

    private var kind: BookmarkKind? {
        get throws {
            let text = try step.database.statement("SELECT kind FROM bookmarks WHERE account = ?")
                .first([account]) { $0.text() }
            return text.flatMap { BookmarkKind(rawValue: $0) }
        }
    }

    func sessionLost() throws {
        for name in [BookmarksResponse.name, BookmarkPublishResponse.name] {
            try Requests(step: step).forget(name, unqueueing: true)
        }
        try step.database.run("DELETE FROM bookmarks WHERE account = ?", [account])
    }

    /// The account's features say where the list is.
    func known(_ info: DiscoveryInfo) throws {
        try step.database.run(
            "INSERT OR REPLACE INTO bookmarks(account, kind) VALUES (?, ?)",
            [account, .text(BookmarkKind(info).rawValue)])
        // Once in a session the list is read at once.
        try Pacing(step: step).forget(BookmarksResponse.name)
        try ask()
    }

    /// The next login finds the list at the server.
    func forget() throws {
        try step.database.run("DELETE FROM bookmark WHERE account = ? AND change = 0", [account])
        try step.database.run("DELETE FROM bookmarks WHERE account = ?", [account])
    }

    // MARK: Of this device

    /// The account is in a room that the user wants: a room that cannot be entered is not worth a bookmark.
    func entered(_ room: RoomRow) throws {
        let row = try rows.all().first { $0.room == room.jid }
        let known = row?.element.flatMap { Bookmark($0, id: $0["jid"] == nil ? room.jid.description : nil) }
        guard known?.autojoin != true || known?.nick != room.nick else { return }
        try changed(room)
    }

    /// The user wants to be in a room, or not any more; or the room is destroyed.
    func changed(_ room: RoomRow, isGone: Bool = false) throws {
        try rows.note(isGone ? .removal : .set, of: room.jid)
        try ask()
    }

    /// Reads the list, unless it is being read or written: then it is read again at the end.
    func ask() throws {
        guard let kind = try kind else { return }
        guard try !Requests(step: step).isWaiting([BookmarksResponse.name, BookmarkPublishResponse.name]) else {
            return try set(again: true)
        }
        try set(again: false)
        try BookmarkList(step: step, kind: kind).ask()
    }

    private func set(again: Bool) throws {
        try step.database.run("UPDATE bookmarks SET again = ? WHERE account = ?", [.integer(again ? 1 : 0), account])
    }

    private var isAskedAgain: Bool {
        get throws {
            try step.database.statement("SELECT again FROM bookmarks WHERE account = ?")
                .first([account]) { $0.bool() } ?? false
        }
    }

    // MARK: Of all devices

    /// Another device has changed the list.
    func came(_ message: IncomingMessage) throws -> Bool {
        guard message.source == .live, message.element.child("event", "http://jabber.org/protocol/pubsub#event") != nil,
            let node = try kind?.node,
            OwnNode.event(of: node, in: message.element, account: step.account.jid) != nil
        else { return false }
        try ask()
        return true
    }

    /// The list has come. An error means that there is none yet.
    fileprivate func told(_ reply: IQReply) throws {
        guard let kind = try kind else { return }
        let list = BookmarkList(step: step, kind: kind)
        switch reply {
        case .timeout: return
        case .error(let error, _) where error.condition != .itemNotFound: return
        case .error: try merge([], nil, list)
        case .result(let iq):
            guard let bookmarks = list.bookmarks(in: iq) else { return }
            let storage = kind == .native ? nil : list.storage(in: iq)
            try merge(Array(bookmarks.prefix(Self.most)), storage, list)
        }
    }

    private func merge(_ bookmarks: [Bookmark], _ storage: Element?, _ list: BookmarkList) throws {
        var now = Dictionary(bookmarks.map { ($0.room, $0) }) { $1 }
        let before = Dictionary(try rows.all().map { ($0.room, $0) }) { $1 }
        let wanted = Dictionary(try rooms.rows.all().map { ($0.jid, $0) }) { $1 }
        var isWriting = false
        for room in Set(now.keys).union(before.keys).union(wanted.keys).sorted() {
            let known = known(wanted[room], before[room])
            let entry = now[room].map { BookmarkMerge.Entry(autojoin: $0.autojoin, nick: $0.nick) }
            let actions = BookmarkMerge.actions(known, now: entry)
            // A room that is to be written is written over the element that the list has now.
            if let bookmark = now.removeValue(forKey: room) {
                try rows.seen(bookmark)
                for action in actions {
                    try perform(action, room, bookmark.element, bookmark, storage, list, &isWriting)
                }
            } else {
                if !actions.contains(.write) { try rows.missing(room) }
                for action in actions { try perform(action, room, nil, nil, storage, list, &isWriting) }
            }
        }
        if !isWriting, try isAskedAgain { try ask() }
    }

    private func known(_ room: RoomRow?, _ row: BookmarkRows.Row?) -> BookmarkMerge.Known? {
        guard room != nil || row != nil else { return nil }
        let base = row.flatMap { row in row.xml.map { _ in BookmarkMerge.Entry(autojoin: row.autojoin, nick: nil) } }
        var known = BookmarkMerge.Known(
            base: base, change: row?.change ?? .none, isWanted: room?.isWanted ?? false, nick: room?.nick)
        known.isRecent = row?.writtenAt.map { step.steady.now - $0 < Self.settling } ?? false
        return known
    }

    private func perform(
        _ action: BookmarkMerge.Action, _ jid: JID, _ element: Element?, _ bookmark: Bookmark?, _ storage: Element?,
        _ list: BookmarkList, _ isWriting: inout Bool
    ) throws {
        switch action {
        case .settled: try rows.settled(jid)
        case .join: try join(jid, bookmark)
        case .leave: try leave(jid)
        // A write at a time: after its answer the list is read again.
        case .write where !isWriting:
            guard let row = try rooms.rows.room(jid), try mayWrite(jid) else { return }
            isWriting = true
            try write(Bookmark.element(row, isNative: list.kind == .native, over: element), row, storage, list)
        case .remove where !isWriting:
            guard try mayWrite(jid) else { return }
            isWriting = true
            try list.remove(jid.description, from: storage)
        case .write, .remove: break
        }
    }

    /// Whether the room may be written now. Otherwise the list is read again when it may.
    private func mayWrite(_ jid: JID) throws -> Bool {
        let (pacing, room) = (Pacing(step: step), jid.description)
        let wait = try pacing.wait(BookmarkPublishResponse.name, room, Self.writing)
        guard wait > 0 else {
            try pacing.take(BookmarkPublishResponse.name, room, Self.writing)
            return true
        }
        if try !Timers(step: step).isWaiting(BookmarksTimer.name, within: wait) {
            try step.schedule(BookmarksTimer(), after: .milliseconds(wait))
        }
        return false
    }

    private func write(_ element: Element, _ room: RoomRow, _ storage: Element?, _ list: BookmarkList) throws {
        try rows.note(.set, of: room.jid)
        if let node = list.kind.node, try !OwnNode(node, in: step).isReady {
            guard try !OwnNode(node, in: step).isAwaited else { return }
            return try OwnNode(node, in: step).prepare(then: BookmarkNodeConfigured())
        }
        try list.write(element, for: room, into: storage)
        try rows.written(room.jid, at: step.steady.now)
    }

    private func join(_ jid: JID, _ bookmark: Bookmark?) throws {
        let usual = bookmark?.nick ?? step.account.jid.local ?? "kalij"
        guard (try? jid.with(resource: usual)) != nil, var room = try rooms.rows.make(jid, nick: usual), !room.isWanted
        else {
            return
        }
        room.isWanted = true
        room.nick = bookmark?.nick ?? room.nick
        room.password = bookmark?.password ?? room.password
        try Invitations(step: step).close(jid)
        if try SessionRow.isAvailable(step.account.id, in: step.database) {
            try rooms.handle(.wanted, &room)
        } else {
            room.stay = RoomMembership(.waiting)
            try rooms.rows.save(room)
        }
        step.flush()
    }

    private func leave(_ jid: JID) throws {
        guard var room = try rooms.rows.room(jid), room.isWanted else { return }
        room.isWanted = false
        try rooms.handle(.unwanted, &room)
        step.flush()
    }

    /// A room was written, or not: the list is read again, and shows what else differs.
    fileprivate func written(_ reply: IQReply) throws {
        switch reply {
        case .result: try ask()
        // The node has another configuration, or is gone (XEP-0060 section 7.1.5).
        case .error(let error, _) where error.condition == .conflict || error.condition == .itemNotFound:
            guard let node = try kind?.node, try OwnNode(node, in: step).isReady else { return }
            try OwnNode(node, in: step).forget()
            try ask()
        // The next session tries again.
        case .error, .timeout: break
        }
    }
}

/// The list has come, or not.
struct BookmarksResponse: InvalidatableHandler, PacedHandler {
    static let name = "rooms.bookmarks"
    static let pace = RequestPace(100, atOnceThen: .seconds(10), upTo: .seconds(60))
    var paceKey: String { "" }

    func call(_ reply: IQReply, in step: Step) throws { try Bookmarks(step: step).told(reply) }

    /// The next session asks again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// A room was written into the list, or not.
struct BookmarkPublishResponse: InvalidatableHandler {
    static let name = "rooms.bookmarked"
    let room: String

    func call(_ reply: IQReply, in step: Step) throws { try Bookmarks(step: step).written(reply) }

    /// The next session compares again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// A room may be written again that the server lists otherwise than it was written.
struct BookmarksTimer: Handler {
    static let name = "rooms.bookmarksdue"

    func call(_: Void, in step: Step) throws {
        try Bookmarks(step: step).ask()
        step.flush()
    }
}

/// The node is prepared, or cannot be.
struct BookmarkNodeConfigured: Handler {
    static let name = "rooms.bookmarknode"

    func call(_ outcome: NodeOutcome, in step: Step) throws {
        if case .ready = outcome { try Bookmarks(step: step).ask() }
    }
}
