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

    /// How long an owner may take to answer, in nanoseconds. A process that lives answers from the thread that runs steps.
    static let patience: Int64 = 5_000_000_000

    typealias Driven = (database: Database, fence: Fence, careful: Bool)

    /// - Throws: `FenceError.held` if another process drives that does not yield to this role; `EngineError.handedOver` if
    ///   it has taken the push of this one; `StoreError`.
    func run() throws -> Driven {
        let path = directory.databasePath
        var deadline = clock.monotonic() + Self.patience
        var (asked, known): (Int64?, Int64?)
        var isLast = false
        while true {
            do {
                return try directory.drive(role: role, now: clock.now())
            } catch FenceError.held(let owner) {
                guard mayAsk(owner) else { throw FenceError.held(owner) }
                // Each has its time to answer: another one may have given up the owner before.
                if let known, known != owner.number { deadline = clock.monotonic() + Self.patience }
                known = owner.number
                try ask(owner, &asked, until: deadline)
                if clock.monotonic() >= deadline, let driven = try raise(over: owner) { return driven }
            } catch let error as StoreError where error.code == .busy {
                // Who drives, or somebody who only hands over, is within a transaction and does not come to its end.
                // Not even reading may be possible.
                if let owner = try? directory.owner(), mayAsk(owner) { try ask(owner, &asked, until: deadline) }
                if clock.monotonic() >= deadline, FrozenWriter.kill(database: path, ifStopped: true) == nil {
                    // Another one that waited as long may be at it now, or who was has just come to its end.
                    if isLast, FrozenWriter.kill(database: path) == nil { throw error }
                    isLast = true
                    deadline = clock.monotonic() + Self.patience
                }
            }
        }
    }

    /// Whether `owner` lets go for this process, or takes its push.
    private func mayAsk(_ owner: Owner) -> Bool {
        switch (role, owner.role) {
        case (_, .share): true  // it brings the tables up to date
        case (.main, .wake), (.main, .background), (.wake, _): true
        default: false
        }
    }

    /// Asks `owner`, once, and waits for what it does.
    private func ask(_ owner: Owner, _ asked: inout Int64?, until deadline: Int64) throws {
        let left = Double(max(0, deadline - clock.monotonic())) / 1_000_000_000
        guard asked != owner.number, owner.role != .share else { return pause() }
        let mailbox = try directory.mailbox()
        let notice = role == .main ? Notice.pleaseStop : .pushArrived
        // It has the lock and does not receive yet, or any more.
        guard let sent = try mailbox.send(notice, to: .driver, from: role, now: clock.now()) else { return pause() }
        asked = owner.number
        let reply = try mailbox.reply(to: sent, within: left)
        if role == .wake, let reply, DriverStatus(payload: reply) != nil { throw EngineError.handedOver(to: owner) }
        _ = try mailbox.takeBack(sent)
    }

    private func pause() { usleep(10_000) }

    /// Raises the fence over the head of `owner`; whoever is frozen within a transaction is killed. Nil if another process
    /// was first: that one lives, and is to be asked.
    private func raise(over owner: Owner) throws -> Driven? {
        var isLast = false
        while true {
            do {
                return try directory.drive(role: role, now: clock.now(), over: owner)
            } catch FenceError.held {
                return nil
            } catch let error as StoreError where error.code == .busy && !isLast {
                isLast = FrozenWriter.kill(database: directory.databasePath) == nil
            }
        }
    }
}
