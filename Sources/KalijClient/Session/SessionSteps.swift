import KalijSteps
import KalijFeatures
import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// The steps of an account's session: what each event of the stream changes in the database.
struct SessionSteps {
    let runner: StepRunner
    let account: Account

    private func queue(in step: Step) -> OutboundQueue { OutboundQueue(database: step.database, account: account.id) }

    /// The session as it is stored.
    func load() throws -> SessionRow { try SessionRow.load(account.id, from: runner.database) }

    /// The server says how many bytes of a stanza it takes, or does not.
    func note(largestStanza bytes: Int?) throws {
        let bytes = bytes.map(Int64.init)
        guard try SessionRow.largestStanza(of: account.id, in: runner.database) != bytes else { return }
        _ = try runner.run("limits", for: account) { step in
            try SessionRow.set(largestStanza: bytes, of: account.id, in: step.database)
        }
    }

    /// The server has resumed the session and handled our stanzas up to `count` (XEP-0198 section 5).
    ///
    /// What has left before and is not in that count is looked for in the archive before it is sent again: the count may
    /// be of an heir to the session that did not see everything (measured: ejabberd 23.01 gives a session to each of
    /// several connections that ask for it while it is busy).
    /// - Throws: `SessionError.impossibleCount` if we never sent that many.
    func resumed(_ count: HandledCount) throws -> Step.Effects {
        try runner.run("resumed", for: account) { step in
            guard try settle(to: count, in: step) else { throw SessionError.impossibleCount(count.value) }
            try markOnline(step)
            try Requests(step: step).unqueueExpired()
            try queue(in: step).hold(.resumed)
            for feature in step.features.all { try feature.sessionResumed(in: step) }
            step.flush()
        }
    }

    /// The session is lost; `count` is what the server had handled of it, if it says so.
    func resumeFailed(_ count: HandledCount?) throws -> Step.Effects {
        try runner.run("resume failed", for: account) { step in
            if let count { _ = try settle(to: count, in: step) }
            try forgetSession(step)
        }
    }

    /// A new session begins under the address `jid`. What was sent in the one before is looked for in the archive and sent
    /// again if it is not there; where no archive can tell, it stays `sent` and is reported.
    func bound(_ jid: JID) throws -> Step.Effects {
        try runner.run("bound", for: account) { step in
            for feature in step.features.all { try feature.sessionLost(in: step) }
            try holdOrReport(step)
            try forgetSession(step)
            try SessionRow.begin(jid, of: account.id, in: step.database)
            // Last: what they send belongs to the new session.
            try Requests(step: step).sessionLost()
        }
    }

    /// The new session is under stream management and can be resumed with `resumeID`, if that is not nil; or it is not,
    /// then what is queued leaves without being kept.
    func established(resumeID: String?) throws -> Step.Effects {
        try runner.run("established", for: account) { step in
            try SessionRow.set(resumeID: resumeID, of: account.id, in: step.database)
            try markOnline(step)
            for feature in step.features.all { try feature.sessionBegan(in: step) }
            try step.announcePresence()
        }
    }

    /// How long a transaction may be open before the last step in it begins, in nanoseconds.
    private static let longest: Int64 = 5_000_000

    /// What has arrived together, for as long as others may be kept from writing.
    /// - Returns: what each step had to say; all of them are committed.
    func handle(_ batch: inout Batch) throws -> [Step.Effects] {
        try runner.run("stanza", for: account, each: &batch, within: Self.longest, Dispatcher.handle)
    }

    /// One inbound stanza; `count` is what the handled count becomes with it, nil without stream management.
    func handle(_ stanza: Element, count: HandledCount?) throws -> Step.Effects {
        try runner.run("stanza", for: account) { step in
            try Dispatcher.handle(Arrival(stanzas: [stanza], count: count), in: step)
        }
    }

    /// A stanza that is set aside unprocessed, and counts as handled.
    func quarantine(_ stanza: QuarantinedStanza, count: HandledCount?) throws -> Step.Effects {
        try runner.run("quarantine", for: account) { step in
            try step.count(count)
            try stanza.store(in: step)
        }
    }

    /// Reads what was archived since it was last read to its end.
    func readArchive() throws -> Step.Effects {
        try runner.run("archive", for: account) { step in
            guard try SessionRow.load(account.id, from: step.database).archive else { return }
            try CatchUp(step: step).again()
        }
    }

    /// The server acknowledges up to `count`.
    func acknowledged(_ count: HandledCount) throws -> Step.Effects {
        try runner.run("acknowledged", for: account) { step in
            guard try settle(to: count, in: step) else { throw SessionError.impossibleCount(count.value) }
        }
    }

    /// Removes what the server has handled up to `count`; false if that is more than there is.
    private func settle(to count: HandledCount, in step: Step) throws -> Bool {
        let acknowledged = try SessionRow.load(account.id, from: step.database).acknowledged
        let newly = Int(count.distance(from: acknowledged))
        guard let messages = try queue(in: step).removeFirst(newly) else { return false }
        try Messages(step: step).acknowledged(messages)
        try SessionRow.set(acknowledged: count, of: account.id, in: step.database)
        return true
    }

    private func holdOrReport(_ step: Step) throws {
        let queue = queue(in: step)
        try queue.removeOthers()
        try queue.hold(.bound)
        if try queue.holding() == .none { try Unsettled(step: step).reportAll() }
        try Unsettled(step: step).reportUnqueued()
    }

    private func forgetSession(_ step: Step) throws {
        try SessionRow.set(resumeID: nil, of: account.id, in: step.database)
    }

    private func markOnline(_ step: Step) throws {
        try SessionRow.set(onlineAt: step.now, of: account.id, in: step.database)
    }
}

/// Why a session cannot go on.
enum SessionError: Error, CustomStringConvertible {
    /// The server says that it has handled more stanzas than were sent (XEP-0198 section 4).
    case impossibleCount(UInt32)

    var description: String {
        switch self {
        case .impossibleCount(let count): "the server acknowledges \(count) stanzas, more than were sent"
        }
    }
}
