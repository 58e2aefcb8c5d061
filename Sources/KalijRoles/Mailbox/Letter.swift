/// A letter between the processes of a directory.
public struct Letter: Sendable, Equatable {
    /// The row: unique in its directory.
    public let id: Int64
    /// What the process that sent it is there for.
    public let role: Role
    /// The process that sent it.
    public let pid: Int32
    /// What it says: a ``Notice/name``.
    public let name: String
    /// What the notice has with it.
    public let payload: [UInt8]
    /// Until when its sender waits for a reply, in milliseconds since 1970; nil if it does not.
    public let replyBy: Int64?
}

/// What one process says to another.
public struct Notice: Sendable, Equatable {
    /// What it says; the receiver tells notices apart by it.
    public let name: String
    /// What it has with it.
    public let payload: [UInt8]
    /// For how many milliseconds it may wait to be received.
    public let lifetime: Int64
    /// How many milliseconds its sender waits for a reply; nil if it does not.
    public let replyWithin: Int64?

    /// One of the program's own; times are milliseconds.
    public init(_ name: String, payload: [UInt8] = [], lifetime: Int64 = 60_000, replyWithin: Int64? = nil) {
        self.name = name
        self.payload = payload
        self.lifetime = lifetime
        self.replyWithin = replyWithin
    }

    /// Asks a process that drives to let everything go: the reply is ``stopped``.
    public static let pleaseStop = Notice("pleaseStop", lifetime: 5000, replyWithin: 5000)
    /// Everything was let go.
    public static let stopped = Notice("stopped")
    /// Something was committed that is to be sent.
    public static let outboxChanged = Notice("outboxChanged")
    /// The push service has woken a process: whoever drives looks at the stream; the reply is its ``DriverStatus``.
    public static let pushArrived = Notice("pushArrived", lifetime: 30_000, replyWithin: 5000)
    /// A process that drove before has just noticed that it does not any more: whoever drives looks whether its connections
    /// live.
    public static let connectionInDoubt = Notice("connectionInDoubt", lifetime: 30_000)
    /// Asks whether the process that drives still reads: the reply is its ``DriverStatus``.
    public static let status = Notice("status", lifetime: 5000, replyWithin: 5000)
}

/// What a process that drives says of itself, from the thread that runs steps.
public struct DriverStatus: Sendable, Equatable {
    /// What it drives for.
    public let role: Role
    /// Its process.
    public let pid: Int32
    /// How many accounts have a session at the moment.
    public let online: Int
    /// How many accounts there are.
    public let accounts: Int

    /// What a process says of itself.
    public init(role: Role, pid: Int32, online: Int, accounts: Int) {
        self.role = role
        self.pid = pid
        self.online = online
        self.accounts = accounts
    }

    /// Reads what ``payload`` wrote; nil if it is something else.
    public init?(payload: [UInt8]) {
        let words = String(decoding: payload, as: UTF8.self).split(separator: " ")
        guard words.count == 4, let role = Role(rawValue: String(words[0])), let pid = Int32(words[1]),
            let online = Int(words[2]), let accounts = Int(words[3])
        else { return nil }
        self.init(role: role, pid: pid, online: online, accounts: accounts)
    }

    /// As it goes into a reply.
    public var payload: [UInt8] { Array("\(role.rawValue) \(pid) \(online) \(accounts)".utf8) }
}
