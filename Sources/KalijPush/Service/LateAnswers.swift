/// Answers that need no provider, given as late as those that do.
///
/// Otherwise a domain that has a token could infer from the time of an answer whether the device was pushed elsewhere just before.
struct LateAnswers: Sendable {
    private struct Late: Sendable {
        var requester: Requester
        var answer: Answer
        /// The queued push that is answered for.
        var push: UInt64?
    }

    private var agenda = TimerHeap()
    private var waiting: [UInt64: Late] = [:]
    private var byPush: [UInt64: UInt64] = [:]
    private var lastID: UInt64 = 0

    var count: Int { waiting.count }
    var next: Milliseconds? { agenda.next }

    mutating func add(_ requester: Requester, _ answer: Answer, for push: UInt64?, at time: Milliseconds) {
        lastID &+= 1
        waiting[lastID] = Late(requester: requester, answer: answer, push: push)
        if let push { byPush[push] = lastID }
        agenda.add(lastID, at: time)
    }

    /// Takes off the next answer that is due.
    mutating func dequeue(_ now: Milliseconds) -> CoreAction? {
        guard let id = agenda.dequeue(now), let late = waiting.removeValue(forKey: id) else { return nil }
        if let push = late.push { byPush[push] = nil }
        return .answer(late.requester, late.answer)
    }

    /// The queued push is not on the disk: a publish that it covers must not be answered with success.
    mutating func notKept(_ push: UInt64) {
        if let id = byPush[push] { waiting[id]?.answer = .unavailable }
    }
}
