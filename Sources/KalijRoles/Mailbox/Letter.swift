/// A letter between the processes of a directory.
public struct Letter: Sendable, Equatable {
    /// The row: unique in its directory.
    public let id: Int64
    /// The role and the process that sent it.
    public let role: Role
    public let pid: Int32
    public let name: String
    public let payload: [UInt8]
    /// Until when its sender waits for a reply, in milliseconds since 1970; nil if it does not.
    public let replyBy: Int64?
}

/// What one process says to another.
public struct Notice: Sendable, Equatable {
    public let name: String
    public let payload: [UInt8]
    /// For how many milliseconds it may wait to be received.
    public let lifetime: Int64
    /// How many milliseconds its sender waits for a reply; nil if it does not.
    public let replyWithin: Int64?

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
    public let role: Role
    public let pid: Int32
    /// How many accounts have a session at the moment, and how many there are.
    public let online: Int
    public let accounts: Int

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

    public var payload: [UInt8] { Array("\(role.rawValue) \(pid) \(online) \(accounts)".utf8) }
}
