import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// The rooms that all devices of the account join, synchronized with the server's list. The list is read after each bind, after each
/// change by another device, and immediately before each change by this device; differences are then written, one room at a time.
struct Bookmarks {
    let step: Step
    private var rows: BookmarkRows { BookmarkRows(database: step.database, account: step.account.id) }
    private var rooms: RoomCoordinator { RoomCoordinator(step: step) }
    private var account: Value { .integer(step.account.id) }

    /// The maximum number of rooms that are read from a list.
    private static let maxRooms = 1000
    /// For this many milliseconds after a write, another device may overwrite it with an older list.
    private static let settling: Int64 = 60_000
    /// A server may acknowledge a room and then list it differently, without the nickname for example, or from a replica that lags
    /// behind.
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

    /// The account's features determine the kind of the list.
    func didDiscover(_ info: DiscoveryInfo) throws {
        try step.database.run(
            "INSERT OR REPLACE INTO bookmarks(account, kind) VALUES (?, ?)",
            [account, .text(BookmarkKind(info).rawValue)])
        // Once in a session the list is read without delay.
        try Pacing(step: step).forget(BookmarksResponse.name)
        try requestList()
    }

    /// A request that waited without a connection for too long is sent now.
    func sessionResumed() throws {
        if try isRepeatPending { try requestList() }
    }

    /// The list is read anew after the next login.
    func forget() throws {
        try step.database.run("DELETE FROM bookmark WHERE account = ? AND change = 0", [account])
        try step.database.run("DELETE FROM bookmarks WHERE account = ?", [account])
    }

    // MARK: Of this device

    /// The account has entered a room that the user has joined. Only a room that can be entered is bookmarked.
    func entered(_ room: RoomRow) throws {
        let row = try rows.all().first { $0.room == room.jid }
        let known = row?.element.flatMap { Bookmark($0, id: $0["jid"] == nil ? room.jid.description : nil) }
        guard known?.autojoin != true || known?.nick != room.nick else { return }
        try changed(room)
    }

    /// The user has joined or left a room; or the room was destroyed.
    func changed(_ room: RoomRow, isGone: Bool = false) throws {
        try rows.record(isGone ? .removal : .set, of: room.jid)
        try requestList()
    }

    /// Reads the list, once presence was sent: the server tells only an available session what other devices change from then on, and
    /// a change between the two would be seen at the next login alone. If a read or a write is pending, the list is read again after that.
    func requestList() throws {
        guard let kind = try kind, try SessionRow.isAvailable(step.account.id, in: step.database) else { return }
        guard try !Requests(step: step).isWaiting([BookmarksResponse.name, BookmarkPublishResponse.name]) else {
            return try set(again: true)
        }
        try set(again: false)
        try BookmarkList(step: step, kind: kind).requestList()
    }

    private func set(again: Bool) throws {
        try step.database.run("UPDATE bookmarks SET again = ? WHERE account = ?", [.integer(again ? 1 : 0), account])
    }

    private var isRepeatPending: Bool {
        get throws {
            try step.database.statement("SELECT again FROM bookmarks WHERE account = ?")
                .first([account]) { $0.bool() } ?? false
        }
    }

    // MARK: Of all devices

    /// Another device has changed the list.
    func received(_ message: IncomingMessage) throws -> Bool {
        guard message.source == .live, message.element.child("event", "http://jabber.org/protocol/pubsub#event") != nil,
            let node = try kind?.node,
            OwnNode.event(of: node, in: message.element, account: step.account.jid) != nil
        else { return false }
        try requestList()
        return true
    }

    /// Handles the list. An error indicates that there is none yet.
    fileprivate func apply(_ reply: IQReply) throws {
        guard let kind = try kind else { return }
        let list = BookmarkList(step: step, kind: kind)
        switch reply {
        case .timeout: try set(again: true)
        case .error(let error, _) where error.condition != .itemNotFound: return
        case .error: try merge([], nil, list)
        case .result(let iq):
            guard let bookmarks = list.bookmarks(in: iq) else { return }
            let storage = kind == .native ? nil : list.storage(in: iq)
            try merge(Array(bookmarks.prefix(Self.maxRooms)), storage, list)
        }
    }

    private func merge(_ bookmarks: [Bookmark], _ storage: Element?, _ list: BookmarkList) throws {
        let now = Dictionary(bookmarks.map { ($0.room, $0) }) { $1 }
        let before = Dictionary(try rows.all().map { ($0.room, $0) }) { $1 }
        let wanted = Dictionary(try rooms.rows.all().map { ($0.jid, $0) }) { $1 }
        var isWriting = false
        for room in Set(now.keys).union(before.keys).union(wanted.keys).sorted() {
            let (known, bookmark) = (known(wanted[room], before[room]), now[room])
            let entry = bookmark.map { BookmarkMerge.Entry(autojoin: $0.autojoin, nick: $0.nick) }
            let actions = BookmarkMerge.actions(known, now: entry)
            if let bookmark { try rows.seen(bookmark) } else if !actions.contains(.write) { try rows.missing(room) }
            for action in actions { try follow(action, room, bookmark) }
            let isExtended = try list.kind == .native && BookmarkExtensions(step: step).read(bookmark, of: room)
            // A room to be written is written over the element that the list has at present.
            for action in actions { try write(action, room, bookmark, storage, list, &isWriting) }
            if isExtended, let bookmark, actions.allSatisfy({ $0 != .write && $0 != .remove }) {
                try extend(bookmark, list, &isWriting)
            }
        }
        if !isWriting, try isRepeatPending { try requestList() }
    }

    private func known(_ room: RoomRow?, _ row: BookmarkRows.Row?) -> BookmarkMerge.Known? {
        guard room != nil || row != nil else { return nil }
        let base = row.flatMap { row in row.xml.map { _ in BookmarkMerge.Entry(autojoin: row.autojoin, nick: nil) } }
        var known = BookmarkMerge.Known(
            base: base, change: row?.change ?? .none, isWanted: room?.isWanted ?? false, nick: room?.nick)
        known.isRecent = row?.writtenAt.map { step.steady.now - $0 < Self.settling } ?? false
        return known
    }

    private func follow(_ action: BookmarkMerge.Action, _ room: JID, _ bookmark: Bookmark?) throws {
        switch action {
        case .settled: try rows.settled(room)
        case .join: try join(room, bookmark)
        case .leave: try leave(room)
        case .write, .remove: break
        }
    }

    /// One write at a time: after its response the list is read again.
    private func write(
        _ action: BookmarkMerge.Action, _ room: JID, _ bookmark: Bookmark?, _ storage: Element?, _ list: BookmarkList,
        _ isWriting: inout Bool
    ) throws {
        guard !isWriting else { return }
        switch action {
        case .write:
            guard bookmark?.isOversized != true, let row = try rooms.rows.room(room), try mayWrite(room) else { return }
            isWriting = true
            try write(row, over: bookmark?.element, storage, list)
        case .remove:
            guard try mayWrite(room) else { return }
            isWriting = true
            try list.remove(room.description, from: storage)
        case .settled, .join, .leave: break
        }
    }

    /// Whether the room may be written now. Otherwise a timer is scheduled that reads the list again.
    private func mayWrite(_ jid: JID) throws -> Bool {
        let (pacing, room) = (Pacing(step: step), jid.description)
        let wait = try pacing.wait(BookmarkPublishResponse.name, room, Self.writing)
        guard wait > 0 else {
            try pacing.acquire(BookmarkPublishResponse.name, room, Self.writing)
            return true
        }
        if try !Timers(step: step).isWaiting(BookmarksTimer.name, within: wait) {
            try step.schedule(BookmarksTimer(), after: .milliseconds(wait))
        }
        return false
    }

    private func write(_ room: RoomRow, over base: Element?, _ storage: Element?, _ list: BookmarkList) throws {
        try rows.record(.set, of: room.jid)
        guard try isReady(list) else { return }
        let element = Bookmark.element(room, isNative: list.kind == .native, over: base)
        let extended =
            list.kind == .native ? try BookmarkExtensions(step: step).extending(element, of: room.jid) : element
        try list.write(extended, for: room.jid, into: storage)
        try rows.written(room.jid, at: step.steady.now)
    }

    /// Writes the changes of features; whatever else the list has of the room stays.
    private func extend(_ bookmark: Bookmark, _ list: BookmarkList, _ isWriting: inout Bool) throws {
        guard !isWriting, !bookmark.isOversized, try mayWrite(bookmark.room) else { return }
        isWriting = true
        guard try isReady(list) else { return }
        let extended = try BookmarkExtensions(step: step).extending(bookmark.element, of: bookmark.room)
        try list.write(extended, for: bookmark.room, into: nil)
    }

    /// Whether the list's node is configured. Otherwise the list is read again as soon as it is.
    private func isReady(_ list: BookmarkList) throws -> Bool {
        guard let node = list.kind.node.map({ OwnNode($0, in: step) }), try !node.isReady else { return true }
        if try !node.isAwaited { try node.prepare(then: BookmarkNodeConfigured()) }
        return false
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
            try rooms.handle(.joinRequested, &room)
        } else {
            room.stay = RoomMembership(.waiting)
            try rooms.rows.save(room)
        }
        step.flush()
    }

    private func leave(_ jid: JID) throws {
        guard var room = try rooms.rows.room(jid), room.isWanted else { return }
        room.isWanted = false
        try rooms.handle(.leaveRequested, &room)
        step.flush()
    }

    /// Handles the response to a write: the list is read again, which reveals remaining differences.
    fileprivate func written(_ reply: IQReply, _ room: JID) throws {
        switch reply {
        case .result:
            if try kind == .native { try BookmarkExtensions(step: step).written(room) }
            try requestList()
        // The node has another configuration, or was deleted (XEP-0060 section 7.1.5).
        case .error(let error, _) where error.condition == .conflict || error.condition == .itemNotFound:
            guard let node = try kind?.node, try OwnNode(node, in: step).isReady else { return }
            try OwnNode(node, in: step).forget()
            try requestList()
        case .timeout: try set(again: true)
        // Retried in the next session.
        case .error: break
        }
    }
}

/// Handles the response to a request for the list.
struct BookmarksResponse: InvalidatableHandler, PacedHandler {
    static let name = "rooms.bookmarks"
    static let pace = RequestPace(100, atOnceThen: .seconds(10), upTo: .seconds(60))
    var paceKey: String { "" }

    func call(_ reply: IQReply, in step: Step) throws { try Bookmarks(step: step).apply(reply) }

    /// The next session requests the list again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Handles the response to a write of a room.
struct BookmarkPublishResponse: InvalidatableHandler {
    static let name = "rooms.bookmarked"
    let room: String

    func call(_ reply: IQReply, in step: Step) throws { try Bookmarks(step: step).written(reply, .received(room)) }

    /// The next session compares the lists again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// A room that the server lists differently than it was written may be written again.
struct BookmarksTimer: Handler {
    static let name = "rooms.bookmarksdue"

    func call(_: Void, in step: Step) throws {
        try Bookmarks(step: step).requestList()
        step.flush()
    }
}

/// The node was configured, or cannot be.
struct BookmarkNodeConfigured: Handler {
    static let name = "rooms.bookmarknode"

    func call(_ outcome: NodeOutcome, in step: Step) throws {
        if case .ready = outcome { try Bookmarks(step: step).requestList() }
    }
}
