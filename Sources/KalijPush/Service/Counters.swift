/// Events counted since the start; for the operator.
public struct Counters: Sendable, Equatable {
    /// A module's events.
    public struct Module: Sendable, Equatable {
        public var delivered: UInt64 = 0
        public var dead: UInt64 = 0
        public var bad: UInt64 = 0
        public var doubted: UInt64 = 0
        public var fault: UInt64 = 0
        public var tooMany: UInt64 = 0
        public var transient: UInt64 = 0
        public var retried: UInt64 = 0
        public var queued: UInt64 = 0
        public var covered: UInt64 = 0
        /// Not sent because of another node's claim.
        public var hearsay: UInt64 = 0
        public var blocked: UInt64 = 0
        public var held: UInt64 = 0
        public var dropped: UInt64 = 0
        public init() {}
    }

    public var publishes: UInt64 = 0
    public var malformed: UInt64 = 0
    /// Because of what a user has chosen: the node, the module, a stanza of the user's own.
    public var unusable: UInt64 = 0
    public var domainBlocked: UInt64 = 0
    public var refusedNewTokens: UInt64 = 0
    public var overLimit: UInt64 = 0
    public var answeredLate: UInt64 = 0
    public var modules: [String: Module] = [:]  // characters: by the names of configured modules.

    public init() {}
}
