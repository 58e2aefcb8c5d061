import KalijSteps
import KalijFeatures
import KalijRoles
import KalijStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a process comes to drive: it takes what nobody holds, asks who holds it, and in the end gives up one that does not
/// answer.
struct TakingOver {
    let directory: AccountDirectory
    let role: Role
    let clock: Clock
    /// The tables of the process that comes to drive.
    private let schema: Schema
    /// Kills whoever is frozen within a transaction of the database at a path; false if nobody is, or may be killed.
    private let killWriter: (_ path: String, _ ifStopped: Bool) -> Bool
    let begin: Int64
    /// The owner that is waited for, and until when: each gets the whole time, since each was asked only then.
    private var awaited: (owner: Int64, deadline: Int64)?
    /// Until when a writer may go on that was there at each attempt.
    private var busyDeadline: Int64?
    /// Whether nobody that is stopped was found then; the next time whoever it is is killed.
    private var isLast = false
    private var asked: Int64?

    /// How long an owner may take to answer, in nanoseconds. A process that lives answers from the thread that runs steps.
    static let patience: Int64 = 5_000_000_000

    typealias Driven = (database: Database, fence: Fence, careful: Bool, mailbox: Mailbox)

    /// What comes next.
    enum Turn {
        case driven(Driven)
        /// The owner was asked: wait for the end of the connection, and look (``answered(_:)``).
        case ask(Question)
        /// A short while later it can be tried again.
        case pause
        /// It can be tried again: SQLite has waited already.
        case again
    }

    /// What an owner was asked.
    struct Question {
        let owner: Owner
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

    /// - Throws: `FenceError.held` if another process drives that does not yield to this role; `EngineError.handedOver` if
    ///   it has taken the push of this one; `StoreError`.
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

    /// Tries once; waits for nobody but a writer of the database, and for that one not long.
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
        } catch let error as StoreError where error.code == .busy {
            // Who drives, or somebody who only hands over, is within a transaction and does not come to its end.
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

    /// Ends a writer that is there still.
    private mutating func end(_ busy: StoreError) throws -> Turn {
        if killAnyWriter(ifStopped: true) { return .again }
        // Another one that waited as long may be at it now, or who was has just come to its end.
        if isLast, !killAnyWriter(ifStopped: false) { throw busy }
        isLast = true
        busyDeadline = clock.monotonic() + Self.patience
        return .again
    }

    /// Whether `owner` lets go for this process, or takes its push.
    private func mayAsk(_ owner: Owner) -> Bool {
        switch (role, owner.role) {
        case (_, .share): true  // it brings the tables up to date
        case (.main, .wake), (.main, .background), (.wake, _): true
        default: false
        }
    }

    /// Until when `owner` may answer.
    private mutating func patience(with owner: Owner) -> Int64 {
        if let awaited, awaited.owner == owner.number { return awaited.deadline }
        let deadline = clock.monotonic() + Self.patience
        awaited = (owner.number, deadline)
        return deadline
    }

    /// Asks `owner`, once; nil if it was asked, or cannot be.
    private mutating func ask(_ owner: Owner) throws -> Turn? {
        guard asked != owner.number, owner.role != .share else { return nil }
        let notice = role == .main ? Notice.pleaseStop : .pushArrived
        guard let (mailbox, sent) = try send(notice) else { return nil }
        asked = owner.number
        let left = Double(max(0, patience(with: owner) - clock.monotonic())) / 1_000_000_000
        return .ask(Question(owner: owner, mailbox: mailbox, sent: sent, seconds: left))
    }

    /// Nil if nobody receives: it has the lock and does not receive yet, or any more. Or if nobody can be told anything,
    /// because somebody is frozen in the middle of it: who is, is killed, and the owner has its time from then on.
    private mutating func send(_ notice: Notice) throws -> (Mailbox, Mailbox.Sent)? {
        do {
            let mailbox = try directory.mailbox(busySeconds: 1)
            return try mailbox.send(notice, to: .driver, from: role, now: directory.steadyNow(clock)).map {
                (mailbox, $0)
            }
        } catch let error as StoreError where error.code == .busy {
            if killWriter(Mailbox.databasePath(in: directory.path), true) { awaited = nil }
            return nil
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            // The owner sets it aside when it looks, and can be asked then.
            directory.reportDamage()
            return nil
        }
    }

    /// The owner has hung up, or did not within the time.
    /// - Throws: `EngineError.handedOver` if it has taken the push of this process.
    func answered(_ question: Question) throws {
        do {
            let reply = try question.mailbox.takeReply(to: question.sent)
            if role == .wake, let reply, DriverStatus(payload: reply) != nil {
                throw EngineError.handedOver(to: question.owner)
            }
            _ = try question.mailbox.takeBack(question.sent)
        } catch let error as StoreError where error.code == .busy {
            // No answer. Whoever finds the letter later does what it would do anyway.
        }
    }

    /// Whoever is frozen in the middle of writing to the mailbox is killed: nobody could be told anything.
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

    /// Raises the fence over the head of `owner`; whoever is frozen within a transaction is killed. Nil if another process
    /// was first: that one lives, and is to be asked.
    private func raise(over owner: Owner) throws -> Driven? {
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

    /// Of the accounts' database; if there is none, of the mailbox, which may be what cannot be opened.
    private func killAnyWriter(ifStopped: Bool) -> Bool {
        killWriter(directory.databasePath, ifStopped)
            || killWriter(Mailbox.databasePath(in: directory.path), ifStopped)
    }
}
