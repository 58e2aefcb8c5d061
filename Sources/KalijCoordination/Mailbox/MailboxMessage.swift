/// A message between the processes of a directory, stored in the ``Mailbox``.
public struct MailboxMessage: Sendable, Equatable {
    /// The row: unique in the directory.
    public let id: Int64
    /// The purpose of the sender.
    public let role: Role
    /// The sender's process.
    public let pid: Int32
    /// The kind of the message: a ``MailboxRequest/name``.
    public let name: String
    /// The content of the message.
    public let payload: [UInt8]
    /// The end of the sender's wait for a reply, in milliseconds since 1970; nil if the sender does not wait.
    public let replyBy: Int64?
}

/// The content and the limits of a message to another process.
public struct MailboxRequest: Sendable, Equatable {
    /// The kind of the message, for the receiver.
    public let name: String
    /// The content.
    public let payload: [UInt8]
    /// How long the message stays valid before it is received, in milliseconds.
    public let lifetime: Int64
    /// How long the sender waits for a reply, in milliseconds; nil if the sender does not wait.
    public let replyWithin: Int64?

    /// Makes a message of the program's own; times are milliseconds.
    public init(_ name: String, payload: [UInt8] = [], lifetime: Int64 = 60_000, replyWithin: Int64? = nil) {
        self.name = name
        self.payload = payload
        self.lifetime = lifetime
        self.replyWithin = replyWithin
    }

    /// Requests that the driver ends its work and releases the fence: the reply is ``stopped``.
    public static let pleaseStop = MailboxRequest("pleaseStop", lifetime: 5000, replyWithin: 5000)
    /// The driver has released the fence.
    public static let stopped = MailboxRequest("stopped")
    /// Something to be sent was committed.
    public static let outboxChanged = MailboxRequest("outboxChanged")
    /// The push service has started a process: the driver checks its stream; the reply is its ``DriverStatus``.
    public static let pushArrived = MailboxRequest("pushArrived", lifetime: 30_000, replyWithin: 5000)
    /// A former driver has just noticed its loss of the fence: the driver checks whether its connections live.
    public static let connectionInDoubt = MailboxRequest("connectionInDoubt", lifetime: 30_000)
    /// Checks whether the driver still reads letters: the reply is its ``DriverStatus``.
    public static let status = MailboxRequest("status", lifetime: 5000, replyWithin: 5000)
}

/// A driver's description of itself, from the thread of the steps.
public struct DriverStatus: Sendable, Equatable {
    /// The purpose of the driver.
    public let role: Role
    /// The driver's process.
    public let pid: Int32
    /// How many accounts have a session at the moment.
    public let online: Int
    /// How many accounts there are.
    public let accounts: Int

    /// Makes a status.
    public init(role: Role, pid: Int32, online: Int, accounts: Int) {
        self.role = role
        self.pid = pid
        self.online = online
        self.accounts = accounts
    }

    /// Reads the bytes of ``payload``; nil for anything else.
    public init?(payload: [UInt8]) {
        let words = String(decoding: payload, as: UTF8.self).split(separator: " ")
        guard words.count == 4, let role = Role(rawValue: String(words[0])), let pid = Int32(words[1]),
            let online = Int(words[2]), let accounts = Int(words[3])
        else { return nil }
        self.init(role: role, pid: pid, online: online, accounts: accounts)
    }

    /// The form in a reply.
    public var payload: [UInt8] { Array("\(role.rawValue) \(pid) \(online) \(accounts)".utf8) }
}
