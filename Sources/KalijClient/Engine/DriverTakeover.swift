import KalijSteps
import KalijFeatures
import KalijRoles
import KalijStore

import Glibc

/// How a process becomes the driver: the process takes a free fence, asks the owner of the fence, and in the end
/// overtakes an owner that does not answer.
struct DriverTakeover {
    let directory: AccountDirectory
    let role: Role
    let clock: Clock
    /// The tables of the new driver.
    private let schema: Schema
    /// Kills the process that is frozen within a transaction of the database at a path; false if there is none, or if
    /// it must not be killed.
    private let killWriter: (_ path: String, _ ifStopped: Bool) -> Bool
    let begin: Int64
    /// The asked owner, and the end of the wait: each owner gets the whole time, from its own question on.
    private var awaited: (owner: Int64, deadline: Int64)?
    /// The deadline of a writer that was there at each attempt.
    private var busyDeadline: Int64?
    /// Whether no stopped writer was found at the deadline; at the next deadline any writer is killed.
    private var isLast = false
    private var asked: Int64?

    /// How long an owner may take to answer, in nanoseconds. A living process answers from the thread that runs steps.
    static let patience: Int64 = 5_000_000_000

    typealias Driven = (database: Database, fence: Fence, careful: Bool, mailbox: Mailbox)

    /// The next action.
    enum Turn {
        case driven(Driven)
        /// The owner was asked: wait for the end of the connection, and look (``answered(_:)``).
        case ask(HandOverRequest)
        /// Try again after a short while.
        case pause
        /// Try again at once: SQLite has waited already.
        case again
    }

    /// A question to an owner.
    struct HandOverRequest {
        let owner: FenceOwner
        let mailbox: Mailbox
        let sent: Mailbox.Sent
        /// How long to wait.
        let seconds: Double
    }

    init(
        directory: AccountDirectory, role: Role, clock: Clock, schema: Schema = .accounts,
        killWriter: @escaping (String, Bool) -> Bool = { FrozenWriter.kill(database: $0, ifStopped: $1) != nil }
    ) {
        (self.directory, self.role, self.clock, self.schema) = (directory, role, clock, schema)
        self.killWriter = killWriter
        begin = clock.monotonic()
    }

    /// - Throws: `FenceError.held` if another process drives and does not yield to this role; `EngineError.handedOver`
    ///   if the driver has taken the push of this process; `StoreError`.
    mutating func run() throws -> Driven {
        while true {
            switch try turn() {
            case .driven(let driven): return driven
            case .ask(let question):
                question.sent.bell.ring()
                question.sent.bell.awaitHangUp(within: question.seconds)
                try answered(question)
            case .pause: usleep(10_000)
            case .again: break
            }
        }
    }

    /// Tries once; waits only for a writer of the database, for a short time.
    mutating func turn() throws -> Turn {
        do {
            return .driven(try complete(directory.drive(role: role, now: clock.now(), schema: schema)))
        } catch FenceError.held(let owner) {
            busyDeadline = nil
            guard mayAsk(owner) else { throw FenceError.held(owner) }
            guard clock.monotonic() < patience(with: owner) else {
                return try raise(over: owner).map(Turn.driven) ?? .again
            }
            return try ask(owner) ?? .pause
        } catch let error as DirectoryError {
            return try leaveToOwner(error)
        } catch let error as StoreError where error.code == .busy {
            // The driver, or a sharing process, is within a transaction and does not come to its end.
            let deadline = busyDeadline ?? clock.monotonic() + Self.patience
            busyDeadline = deadline
            guard clock.monotonic() < deadline else {
                return try end(error)
            }
            // Not even reading may be possible.
            guard let owner = try? directory.owner(), mayAsk(owner) else { return .again }
            return try ask(owner) ?? .again
        }
    }

    /// This process cannot drive, because it lacks features. Such a process does not ask the driver to stop, but can hand over a push.
    private mutating func leaveToOwner(_ error: DirectoryError) throws -> Turn {
        guard case .unknownFeatures = error, let owner = try? directory.owner() else { throw error }
        guard role == .wake, mayAsk(owner) else { throw FenceError.held(owner) }
        guard clock.monotonic() < patience(with: owner) else { throw error }
        return try ask(owner) ?? .pause
    }

    /// Ends a writer that is still there.
    private mutating func end(_ busy: StoreError) throws -> Turn {
        if killAnyWriter(ifStopped: true) { return .again }
        // Another process may be writing now, after an equally long wait, or the writer has just ended.
        if isLast, !killAnyWriter(ifStopped: false) { throw busy }
        isLast = true
        busyDeadline = clock.monotonic() + Self.patience
        return .again
    }

    /// Whether `owner` yields to this process, or takes its push.
    private func mayAsk(_ owner: FenceOwner) -> Bool {
        switch (role, owner.role) {
        case (_, .share): true  // the owner brings the tables up to date
        case (.main, .wake), (.main, .background), (.wake, _): true
        default: false
        }
    }

    /// The deadline for the answer of `owner`.
    private mutating func patience(with owner: FenceOwner) -> Int64 {
        if let awaited, awaited.owner == owner.number { return awaited.deadline }
        let deadline = clock.monotonic() + Self.patience
        awaited = (owner.number, deadline)
        return deadline
    }

    /// Asks `owner`, once; nil if `owner` was asked already, or cannot be asked.
    private mutating func ask(_ owner: FenceOwner) throws -> Turn? {
        guard asked != owner.number, owner.role != .share else { return nil }
        let notice = role == .main ? MailboxRequest.pleaseStop : .pushArrived
        guard let (mailbox, sent) = try send(notice) else { return nil }
        asked = owner.number
        let left = Double(max(0, patience(with: owner) - clock.monotonic())) / 1_000_000_000
        return .ask(HandOverRequest(owner: owner, mailbox: mailbox, sent: sent, seconds: left))
    }

    /// Nil if nobody receives: the owner has the lock and does not receive yet, or no longer. Or nil if the mailbox is
    /// locked by a frozen process: that process is killed, and the owner's time begins again.
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
            // The owner sets the mailbox aside at its next look, and can be asked then.
            directory.reportDamage()
            return nil
        }
    }

    /// The owner has hung up, or the time is over.
    /// - Throws: `EngineError.handedOver` if the owner has taken the push of this process.
    func answered(_ question: HandOverRequest) throws {
        do {
            let reply = try question.mailbox.takeReply(to: question.sent)
            if role == .wake, let reply, DriverStatus(payload: reply) != nil {
                throw EngineError.handedOver(to: question.owner)
            }
            _ = try question.mailbox.takeBack(question.sent)
        } catch let error as StoreError where error.code == .busy {
            // No answer. A process that finds the letter later does nothing beyond its usual work.
        }
    }

    /// A process that is frozen within a write to the mailbox is killed, because the mailbox would stay locked.
    private func complete(_ driven: (database: Database, fence: Fence, careful: Bool)) throws -> Driven {
        let mailbox = try directory.mailbox(under: driven.fence, driven.database, clock)
        var attempts = 0
        while true {
            do {
                try mailbox.awaitWriters()
                return (driven.database, driven.fence, driven.careful, mailbox)
            } catch let error as StoreError where error.code == .busy {
                attempts += 1
                let isLast = attempts > 2 * Self.mailboxPatience
                guard !isLast else { throw error }
                if attempts >= Self.mailboxPatience {
                    _ = killWriter(Mailbox.databasePath(in: directory.path), false)
                }
            }
        }
    }

    /// How many seconds a writer of the mailbox may take.
    private static let mailboxPatience = 3

    /// Raises the fence over `owner`; a process that is frozen within a transaction is killed. Nil if another process
    /// was first: that process lives, and has to be asked.
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

    /// Kills the writer of the accounts' database; if there is none, the writer of the mailbox, which may be the locked
    /// database.
    private func killAnyWriter(ifStopped: Bool) -> Bool {
        killWriter(directory.databasePath, ifStopped)
            || killWriter(Mailbox.databasePath(in: directory.path), ifStopped)
    }
}
