/// Keeps what has to survive the process in the database, and what the database does not take (a full disk) in memory
/// until it does.
///
/// What waits is one change for each row: the latest. It is not more than what there is in memory anyway: queued pushes
/// are limited, and of blocks and successes, which are learnt anew, only so many wait.
final class StateKeeper {
    private enum Row {
        /// Was never on the disk.
        case new(QueuedPush)
        case changed(QueuedPush)
        case dropped
    }

    private let database: PushDatabase
    private var rows: [UInt64: Row] = [:]
    private var blocks: [HashedKey: CoreAction] = [:]
    private var known: [HashedKey: CoreAction] = [:]
    private var successes: [String: CoreAction] = [:]
    /// Queued pushes up to this id are on the disk, have been, or wait here.
    private var lastKept: UInt64
    private var nextTry: Milliseconds = 0
    /// Why the database takes nothing; nil while it does.
    private(set) var failure: String?

    private static let hashesLimit = 100_000
    private static let part = 1_000

    init(_ database: PushDatabase) {
        self.database = database
        lastKept = database.lastID
    }

    /// Changes that wait for the disk.
    var backlog: Int { rows.count + blocks.count + known.count + successes.count }

    /// Keeps what of some actions is for the disk. While it takes nothing, it is tried once a second.
    /// - Returns: whether everything is on the disk.
    func keep(_ actions: [CoreAction], now: Milliseconds) -> Bool {
        if failure != nil, now < nextTry {
            for action in actions { remember(action) }
            return false
        }
        guard write(actions, now: now) else {
            for action in actions { remember(action) }
            return false
        }
        for action in actions { supersede(action) }
        return true
    }

    /// Whether the last attempt of a queued push was counted on the disk, or nothing of the push is there: then nobody
    /// could send it once too often after us.
    func isCounted(_ id: UInt64) -> Bool {
        switch rows[id] {
        case .changed, .dropped: false
        case .new, nil: true
        }
    }

    /// Tries to get rid of a part of what waits.
    /// - Returns: whether the rest is to be tried at once; if not, later or not at all.
    func workOff(now: Milliseconds) -> Bool {
        guard backlog > 0, failure == nil || now >= nextTry else { return false }
        var actions = rows.prefix(Self.part).map { id, row -> CoreAction in
            switch row {
            case .new(let push), .changed(let push): .keep(push)
            case .dropped: .drop(id)
            }
        }
        actions += blocks.values.prefix(Self.part - actions.count)
        actions += known.values.prefix(Self.part - actions.count)
        if actions.count < Self.part { actions += successes.values }
        guard write(actions, now: now) else { return false }
        for action in actions { supersede(action) }
        return backlog > 0
    }

    private func write(_ actions: [CoreAction], now: Milliseconds) -> Bool {
        do {
            try database.apply(actions)
            failure = nil
            return true
        } catch {
            failure = "\(error)"
            nextTry = now + 1_000
            return false
        }
    }

    private func remember(_ action: CoreAction) {
        switch action {
        case .keep(let push):
            switch rows[push.id] {
            case .new: rows[push.id] = .new(push)
            case nil where push.id > lastKept: rows[push.id] = .new(push)
            default: rows[push.id] = .changed(push)
            }
        case .drop(let id):
            if case .new = rows[id] { rows[id] = nil } else { rows[id] = .dropped }
        case .block(let change) where blocks[change.key] != nil || blocks.count < Self.hashesLimit:
            blocks[change.key] = action
        case .know(let key, _) where known[key] != nil || known.count < Self.hashesLimit: known[key] = action
        case .success(let success): successes[success.module] = action
        case .block, .know, .answer, .send, .alarm: break
        }
    }

    /// An action is on the disk: what waited for the same row is older.
    private func supersede(_ action: CoreAction) {
        switch action {
        case .keep(let push):
            lastKept = max(lastKept, push.id)
            if !rows.isEmpty { rows[push.id] = nil }
        case .drop(let id): if !rows.isEmpty { rows[id] = nil }
        case .block(let change): if !blocks.isEmpty { blocks[change.key] = nil }
        case .know(let key, _): if !known.isEmpty { known[key] = nil }
        case .success(let success): successes[success.module] = nil
        case .answer, .send, .alarm: break
        }
    }
}
