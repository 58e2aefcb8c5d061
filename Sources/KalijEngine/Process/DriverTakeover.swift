import KalijCore
import KalijCoordination
import KalijStore

import Glibc

/// How a process becomes the driver: it acquires a free fence, or requests it from the owner, and finally overtakes an owner that
/// does not respond.
package struct DriverTakeover {
    package let directory: AccountDirectory
    package let role: Role
    package let clock: Clock
    /// The tables of the new driver.
    private let schema: Schema
    /// Kills the process that is frozen within a transaction of the database at a path; returns false if there is none, or if it
    /// must not be killed.
    private let killWriter: (_ path: String, _ ifStopped: Bool) -> Bool
    package let begin: Int64
    /// The owner to which a request was sent, and its deadline: each owner is granted the full time, counted from the first
    /// attempt.
    private var awaited: (owner: Int64, deadline: Int64)?
    /// The deadline of a writer that was present at each attempt.
    private var busyDeadline: Int64?
    /// Whether no stopped writer was found at the deadline; any writer is killed at the next one.
    private var isLast = false
    private var requestedOwner: Int64?

    /// How long an owner may take to respond, in nanoseconds. A running process responds from the thread that runs steps.
    package static let timeout: Int64 = 5_000_000_000

    package typealias Driven = (database: Database, fence: Fence, careful: Bool, mailbox: Mailbox)

    /// The next action.
    package enum Turn {
        case driven(Driven)
        /// A request was sent to the owner: wait for the end of the connection, then call ``answered(_:)``.
        case request(HandOverRequest)
        /// Retry after a short pause.
        case pause
        /// Retry at once: SQLite has already waited.
        case retry
    }

    /// A request to an owner.
    package struct HandOverRequest {
        package let owner: FenceOwner
        package let mailbox: Mailbox
        package let sent: Mailbox.Sent
        /// The timeout of the request.
        package let seconds: Double
    }

    package init(
        directory: AccountDirectory, role: Role, clock: Clock, schema: Schema? = nil,
        killWriter: @escaping (String, Bool) -> Bool = { FrozenWriter.kill(database: $0, ifStopped: $1) != nil }
    ) {
        (self.directory, self.role, self.clock, self.schema) = (directory, role, clock, schema ?? directory.schema)
        self.killWriter = killWriter
        begin = clock.monotonic()
    }

    /// - Throws: `FenceError.held` if another process drives and does not yield to this role; `EngineError.handedOver` if the
    ///   driver has accepted the push of this process; `StoreError`.
    package mutating func run() throws -> Driven {
        while true {
            switch try turn() {
            case .driven(let driven): return driven
            case .request(let question):
                question.sent.bell.ring()
                question.sent.bell.awaitHangUp(within: question.seconds)
                try answered(question)
            case .pause: usleep(10_000)
            case .retry: break
            }
        }
    }

    /// Tries once; blocks only on a writer of the database, for a short time.
    package mutating func turn() throws -> Turn {
        do {
            return .driven(try complete(directory.drive(role: role, now: clock.now(), schema: schema)))
        } catch FenceError.held(let owner) {
            busyDeadline = nil
            guard mayRequest(owner) else { throw FenceError.held(owner) }
            guard clock.monotonic() < responseDeadline(with: owner) else {
                return try raise(over: owner).map(Turn.driven) ?? .retry
            }
            return try request(owner) ?? .pause
        } catch let error as DirectoryError {
            return try leaveToOwner(error)
        } catch let error as StoreError where error.code == .busy {
            // The driver, or a sharing process, is within a transaction that does not end.
            let deadline = busyDeadline ?? clock.monotonic() + Self.timeout
            busyDeadline = deadline
            guard clock.monotonic() < deadline else {
                return try end(error)
            }
            // Reading may fail as well.
            guard let owner = try? directory.owner(), mayRequest(owner) else { return .retry }
            return try request(owner) ?? .retry
        }
    }

    /// This process cannot drive, because it lacks features. It does not request that the driver stop, but can hand over a push.
    private mutating func leaveToOwner(_ error: DirectoryError) throws -> Turn {
        guard case .unknownFeatures = error, let owner = try? directory.owner() else { throw error }
        guard role == .wake, mayRequest(owner) else { throw FenceError.held(owner) }
        guard clock.monotonic() < responseDeadline(with: owner) else { throw error }
        return try request(owner) ?? .pause
    }

    /// Kills a writer whose transaction outlasts the deadline.
    private mutating func end(_ busy: StoreError) throws -> Turn {
        if killAnyWriter(ifStopped: true) { return .retry }
        // Another process may be writing now, after an equally long wait, or the writer may have just finished.
        if isLast, !killAnyWriter(ifStopped: false) { throw busy }
        isLast = true
        busyDeadline = clock.monotonic() + Self.timeout
        return .retry
    }

    /// Whether `owner` yields to this process, or accepts its push.
    private func mayRequest(_ owner: FenceOwner) -> Bool {
        switch (role, owner.role) {
        case (_, .share): true  // the owner migrates the tables
        case (.main, .wake), (.main, .background), (.wake, _): true
        default: false
        }
    }

    /// The deadline for the response of `owner`.
    private mutating func responseDeadline(with owner: FenceOwner) -> Int64 {
        if let awaited, awaited.owner == owner.number { return awaited.deadline }
        let deadline = clock.monotonic() + Self.timeout
        awaited = (owner.number, deadline)
        return deadline
    }

    /// Sends a request to `owner`, once; nil if one was already sent, or none can be sent.
    private mutating func request(_ owner: FenceOwner) throws -> Turn? {
        guard requestedOwner != owner.number, owner.role != .share else { return nil }
        let notice = role == .main ? MailboxRequest.pleaseStop : .pushArrived
        guard let (mailbox, sent) = try send(notice) else { return nil }
        requestedOwner = owner.number
        let left = Double(max(0, responseDeadline(with: owner) - clock.monotonic())) / 1_000_000_000
        return .request(HandOverRequest(owner: owner, mailbox: mailbox, sent: sent, seconds: left))
    }

    /// Nil if no process receives: the owner holds the lock and does not listen yet, or no longer. Also nil if a frozen process
    /// locks the mailbox: that process is killed, and the owner's time starts again.
    private mutating func send(_ notice: MailboxRequest) throws -> (Mailbox, Mailbox.Sent)? {
        do {
            let mailbox = try directory.mailbox(busySeconds: 1)
            return try mailbox.send(notice, to: .driver, from: role, now: directory.steadyNow(clock)).map {
                (mailbox, $0)
            }
        } catch let error as StoreError where error.code == .busy {
            if killWriter(Mailbox.databasePath(in: directory.path), true) { awaited = nil }
            return nil
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            // The owner replaces the mailbox at its next check, and can receive a request afterwards.
            directory.reportDamage()
            return nil
        }
    }

    /// The owner has closed the connection, or the deadline has passed.
    /// - Throws: `EngineError.handedOver` if the owner has accepted the push of this process.
    package func answered(_ question: HandOverRequest) throws {
        do {
            let reply = try question.mailbox.takeReply(to: question.sent)
            if role == .wake, let reply, DriverStatus(payload: reply) != nil {
                throw EngineError.handedOver(to: question.owner)
            }
            _ = try question.mailbox.takeBack(question.sent)
        } catch let error as StoreError where error.code == .busy {
            // No response. A process that finds the request later does nothing beyond its usual work.
        }
    }

    /// Kills a process that is frozen within a write to the mailbox, because the mailbox would remain locked.
    private func complete(_ driven: (database: Database, fence: Fence, careful: Bool)) throws -> Driven {
        let mailbox = try directory.mailbox(under: driven.fence, driven.database, clock)
        var attempts = 0
        while true {
            do {
                try mailbox.awaitWriters()
                return (driven.database, driven.fence, driven.careful, mailbox)
            } catch let error as StoreError where error.code == .busy {
                attempts += 1
                let isLast = attempts > 2 * Self.mailboxTimeout
                guard !isLast else { throw error }
                if attempts >= Self.mailboxTimeout {
                    _ = killWriter(Mailbox.databasePath(in: directory.path), false)
                }
            }
        }
    }

    /// The timeout for a writer of the mailbox, in seconds.
    private static let mailboxTimeout = 3

    /// Raises the fence over `owner`; kills a process that is frozen within a transaction. Nil if another process raised the
    /// fence first: that process is running, and has to receive a request.
    private func raise(over owner: FenceOwner) throws -> Driven? {
        var isLast = false
        while true {
            do {
                return try complete(directory.drive(role: role, now: clock.now(), over: owner, schema: schema))
            } catch FenceError.held {
                return nil
            } catch let error as StoreError where error.code == .busy && !isLast {
                isLast = !killAnyWriter(ifStopped: false)
            }
        }
    }

    /// Kills the writer of the accounts' database; if there is none, the writer of the mailbox, which may be the locked database.
    private func killAnyWriter(ifStopped: Bool) -> Bool {
        killWriter(directory.databasePath, ifStopped)
            || killWriter(Mailbox.databasePath(in: directory.path), ifStopped)
    }
}
