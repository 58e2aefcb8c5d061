/// Keeps the state that has to survive the process in the database. Changes refused by the database (a full disk) wait
/// in memory.
///
/// At most one change for each row waits: the latest. So the waiting changes are no more than the state in memory
/// anyway: queued pushes are limited, and of blocks and successes, which are learnt anew, only a limited number waits.
final class StateWriter {
    private enum Row {
        /// Was never on the disk.
        case new(QueuedPush)
        case changed(QueuedPush)
        case dropped
    }

    private let database: PushDatabase
    private var rows: [UInt64: Row] = [:]
    private var blocks: [HashedKey: CoreAction] = [:]
    private var hits: [HashedKey: CoreAction] = [:]
    private var known: [HashedKey: CoreAction] = [:]
    private var successes: [String: CoreAction] = [:]  // characters: by the names of configured modules.
    /// By server and node: they follow the records that were read.
    private var positions: [String: CoreAction] = [:]  // characters: names of configured nodes.
    private var exclusions: [String: CoreAction] = [:]  // characters: names of configured nodes.
    /// Queued pushes up to this id are on the disk, were there before, or wait here.
    private var lastKept: UInt64
    private var nextTry: Milliseconds = 0
    /// Why the database refuses changes; nil while changes are accepted.
    private(set) var failure: String?

    private static let hashesLimit = 100_000
    private static let part = 1_000

    init(_ database: PushDatabase) {
        self.database = database
        lastKept = database.lastID
    }

    /// Changes waiting for the disk.
    var backlog: Int {
        rows.count + blocks.count + hits.count + known.count + successes.count + positions.count + exclusions.count
    }

    /// Keeps the actions for the disk. While the database refuses, an attempt is made once a second.
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

    /// Whether the last attempt of a queued push was counted on the disk, or nothing of the push is there: then no
    /// later process can send the push once too often.
    func isCounted(_ id: UInt64) -> Bool {
        switch rows[id] {
        case .changed, .dropped: false
        case .new, nil: true
        }
    }

    /// Tries to write a part of the waiting changes.
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
        // After the blocks: a hit changes the row of a block.
        if actions.count < Self.part { actions += hits.values.prefix(Self.part - actions.count) }
        actions += known.values.prefix(Self.part - actions.count)
        if actions.count < Self.part { actions += successes.values }
        if actions.count < Self.part { actions += Array(exclusions.values) + Array(positions.values) }
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
            hits[change.key] = nil
        case .hit(let hit) where hits[hit.key] != nil || hits.count < Self.hashesLimit: hits[hit.key] = action
        case .know(let key, _) where known[key] != nil || known.count < Self.hashesLimit: known[key] = action
        case .success(let success): successes[success.module] = action
        case .position(let position): positions[position.server + " " + position.node] = action
        case .exclude(let node, _):
            exclusions[node] = action
            positions = positions.filter { if case .position(let at) = $1 { at.node != node } else { true } }
        case .block, .hit, .know, .answer, .send, .alarm, .notice, .redis: break
        }
    }

    /// An action is on the disk: a waiting change of the same row is older.
    private func supersede(_ action: CoreAction) {
        switch action {
        case .keep(let push):
            lastKept = max(lastKept, push.id)
            if !rows.isEmpty { rows[push.id] = nil }
        case .drop(let id): if !rows.isEmpty { rows[id] = nil }
        case .block(let change):
            if !blocks.isEmpty { blocks[change.key] = nil }
            if !hits.isEmpty { hits[change.key] = nil }
        case .hit(let hit): if !hits.isEmpty { hits[hit.key] = nil }
        case .know(let key, _): if !known.isEmpty { known[key] = nil }
        case .success(let success): successes[success.module] = nil
        case .position(let position):
            if !positions.isEmpty { positions[position.server + " " + position.node] = nil }
        case .exclude(let node, _): if !exclusions.isEmpty { exclusions[node] = nil }
        case .answer, .send, .alarm, .notice, .redis: break
        }
    }
}
