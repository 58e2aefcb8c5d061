/// A push for a provider; its result is passed to ``PushCore/deliver(_:of:now:)``.
public struct Delivery: Sendable, Equatable {
    public var id: UInt64
    public var module: String
    public var token: String
    /// Nothing is shown for this push.
    public var isBackground: Bool
    /// The former credentials have expired.
    public var needsFreshCredentials = false
}

/// A waiting push. The row in a database is sealed, because the token is inside.
public struct QueuedPush: Sendable, Equatable {
    public var id: UInt64
    public var module: String
    public var token: String
    public var isImportant: Bool
    public var due: Milliseconds
    /// How often sending was begun; two at most.
    public var attempts: Int

    public init(
        id: UInt64, module: String, token: String, isImportant: Bool, due: Milliseconds, attempts: Int = 0
    ) {
        self.id = id
        self.module = module
        self.token = token
        self.isImportant = isImportant
        self.due = due
        self.attempts = attempts
    }
}

/// The core's requests. In order; changes to keep have to be on the disk before any later action leaves.
public enum CoreAction: Sendable, Equatable {
    case answer(Requester, Answer)
    case send(Delivery)
    /// Keeps a queued push, or its new state.
    case keep(QueuedPush)
    /// Forgets a queued push.
    case drop(UInt64)
    case block(BlockChange)
    /// Keeps that a block lasts longer because of hits.
    case hit(BlockHit)
    /// Keeps that a push to a token has succeeded at a time, so the token is not new after a restart.
    case know(HashedKey, at: Milliseconds)
    /// Keeps the time of a module's last successful push, for the next process.
    case success(ModuleSuccess)
    /// A problem of a module that requires the operator's attention. `isOver` when the problem has ended.
    case alarm(module: String, String, isOver: Bool)
    /// A line about a module, for the operator's information.
    case notice(module: String, String)
    /// For the connection to a server of ``NodesSettings/redis``.
    case redis(link: Int, RedisAction)
    /// Keeps how far a node's stream was read, with the records read.
    case position(ReadPosition)
    /// Keeps that a node's records count no more, or, if it is not in the configuration, forgets the node.
    case exclude(node: String, isForgotten: Bool)
}

/// What is to be done at a server of ``NodesSettings/redis``.
public enum RedisAction: Sendable, Equatable {
    case send([RedisCommand])
    /// Drops the connection, for a reason, and leaves the server alone for so long at least.
    case drop(String, rest: Milliseconds)
}

/// A block lasts longer here, because its key was used again.
public struct BlockHit: Sendable, Equatable {
    public var key: HashedKey
    public var until: Milliseconds

    public init(key: HashedKey, until: Milliseconds) {
        self.key = key
        self.until = until
    }
}

/// When a push of a module was taken last.
public struct ModuleSuccess: Sendable, Equatable {
    public var module: String
    /// The identity of the pushes: credentials, app and place. For another identity the success proves nothing.
    public var identity: HashedKey
    public var at: Milliseconds

    public init(module: String, identity: HashedKey, at: Milliseconds) {
        self.module = module
        self.identity = identity
        self.at = at
    }
}

/// A push between its publish and its end.
struct InFlightPush: Sendable {
    var module: String
    var token: String
    var format: TokenFormat
    var key: HashedKey
    /// Unknown for pushes from an earlier process.
    var domain: HashedKey?
    /// Who has registered the domain; likewise.
    var owner: HashedKey?
    /// Nil once answered.
    var requester: Requester?
    var isImportant: Bool
    /// Whether the push is in the database.
    var isKept = false
    var attempts = 0
    /// Another node's claim about the token: the push is sent in order to check it.
    var hearsay: PeerClaim?
    var isRenewed = false
    /// Nothing is tried after this time; for a waiting push, the time when due.
    var deadline: Milliseconds
    /// The time of first queueing.
    var since: Milliseconds
}

extension InFlightPush {
    /// What names the device.
    var subject: Substring { format.subject(of: token) }

    /// Whether the answer of one of many services is too late to be an example for the others.
    func isLateOfMany(_ now: Milliseconds) -> Bool { format == .subscription && now - since > 1_000 }

    var mayRetry: Bool { attempts < (isKept ? 2 : 5) }

    /// Ten minutes of failing are enough; the next message will wake the device.
    func isWorthWaiting(_ now: Milliseconds) -> Bool { now - since < 600_000 }

    func row(_ id: UInt64, due: Milliseconds) -> QueuedPush {
        QueuedPush(id: id, module: module, token: token, isImportant: isImportant, due: due, attempts: attempts)
    }

    func answer(_ answer: Answer) -> [CoreAction] { requester.map { [.answer($0, answer)] } ?? [] }
}
