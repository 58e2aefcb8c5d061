/// A push for a provider; what comes of it goes to ``PushCore/deliver(_:of:now:)``.
public struct Delivery: Sendable, Equatable {
    public var id: UInt64
    public var module: String
    public var token: String
    /// Nothing is to be shown for it.
    public var isBackground: Bool
    /// The credentials that were used before have run out.
    public var needsFreshCredentials = false
}

/// A push that waits. Its row in a database is sealed, because it holds the token.
public struct QueuedPush: Sendable, Equatable {
    public var id: UInt64
    public var module: String
    public var token: String
    public var isImportant: Bool
    public var due: Milliseconds
    /// How often sending it was begun; two at most.
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

/// What the core wants done. In order; what is kept has to be on the disk before anything later leaves.
public enum CoreAction: Sendable, Equatable {
    case answer(Requester, Answer)
    case send(Delivery)
    /// Keeps a queued push, or its new state.
    case keep(QueuedPush)
    /// Forgets a queued push.
    case drop(UInt64)
    case block(BlockChange)
    /// Keeps that a push to a token has succeeded at a time, so that it is not new after a restart.
    case know(HashedKey, at: Milliseconds)
    /// Keeps when a module's pushes were taken, so that the next process knows.
    case success(ModuleSuccess)
    /// Something that an operator has to know of a module. `isOver` when it no longer holds.
    case alarm(module: String, String, isOver: Bool)
}

/// When a push of a module was taken last.
public struct ModuleSuccess: Sendable, Equatable {
    public var module: String
    /// What the pushes went out with: credentials, app and place. With others it proves nothing.
    public var identity: HashedKey
    public var at: Milliseconds

    public init(module: String, identity: HashedKey, at: Milliseconds) {
        self.module = module
        self.identity = identity
        self.at = at
    }
}

/// A push between its publish and its end.
struct Flight: Sendable {
    var module: String
    var token: String
    var key: HashedKey
    /// Unknown for pushes that are older than the process.
    var domain: HashedKey?
    /// Nil once it is answered.
    var requester: Requester?
    var isImportant: Bool
    /// Whether it is kept in the database.
    var isKept = false
    var attempts = 0
    var isRenewed = false
    /// Nothing is tried after this; of a push that waits, when it is due.
    var deadline: Milliseconds
    /// When it was queued first.
    var since: Milliseconds
}
