import KalijClient
import KalijText

/// Prints what `run` sees: messages to standard output, the rest to standard error; with `--json` everything to
/// standard output.
struct EventPrinter {
    let json: Bool
    let verbose: Bool

    private struct Record: Encodable {
        let event: String
        let account: String
        let at: String
        var jid: String?
        var resumed: Bool?
        var reason: String?
        var retryIn: Double?
        var from: String?
        var kind: String?
        var milliseconds: Int64?
        var messages: Int?

        private enum CodingKeys: String, CodingKey {
            case event, account, at, jid, resumed, reason, from, kind, milliseconds, messages
            case retryIn = "retry_in"
        }
    }

    func print(_ event: EngineEvent) { try? write(event) }

    /// - Throws: `OutputClosed`, `Failure`: it was not printed.
    func write(_ event: EngineEvent) throws {
        if json { try Output.results(json(event) + "\n") } else { try writeText(event) }
    }

    /// Says it on standard error, whatever it is.
    func note(_ event: EngineEvent) {
        if let text = text(event) { Output.note("\(event.account): \(text)") }
    }

    private func writeText(_ event: EngineEvent) throws {
        guard let line = line(event) else { return }
        if case .message = event.kind { try Output.results(line + "\n") } else { Output.note(line) }
    }

    /// What a person is told of it, and of which account it is; nil if it is of no interest.
    func line(_ event: EngineEvent) -> PrintedText? {
        switch event.kind {
        case .message(let message) where message.body == nil: return nil
        case .state(let message) where !verbose && message.state != .failed: return nil
        default: return text(event).map { "\(event.account): \($0)" }
        }
    }

    private func text(_ event: EngineEvent) -> PrintedText? {
        switch event.kind {
        case .message(let message), .state(let message), .unsettled(let message): return MessageLine.of(message)
        case .connecting: return verbose ? "connecting" : nil
        case .online(let jid, let resumed): return "online as \(jid), \(resumed ? "session resumed" : "new session")"
        case .offline(let reason, let retryIn):
            return "offline: \(reason)" + (retryIn.map { "; trying again in \(Int($0.rounded(.up))) s" } ?? "")
        case .refused(let reason): return "login refused: \(reason)"
        case .caughtUp(let problem):
            return problem.map { "the archive was not read: \($0)" } ?? (verbose ? "caught up" : nil)
        case .roomRead(let room, let problem):
            return problem.map { "the archive of \(room) was not read: \($0)" }
                ?? (verbose ? "caught up with \(room)" : nil)
        case .historyFilled(let room, let messages, let problem):
            let what: PrintedText = "\(messages) older messages fetched\(room.map { " from \($0)" } ?? "")"
            return problem.map { "\(what), then: \($0)" } ?? (verbose ? what : nil)
        case .quarantined(let reason, let sender): return "set aside a stanza from \(sender ?? "the server"): \(reason)"
        case .deadLetter(let letter) where letter.origin == .share:
            return "not taken over from the mailbox: \(letter.reason)"
        case .deadLetter(let letter): return "a stored callback could not be called: \(letter.reason)"
        case .loggedOut(let removed): return removed ? "removed" : "logged out"
        case .waitingForStorage(let reason, let retryIn):
            return "cannot store: \(reason); nothing is acknowledged, trying again in \(Int(retryIn.rounded(.up))) s"
        case .storageAvailable: return "can store again"
        case .missed(let count): return "\(count) events were not told"
        case .slowStep(let kind, let milliseconds): return "slow step: \(kind) took \(milliseconds) ms"
        }
    }

    /// The line of JSON for it.
    func json(_ event: EngineEvent) throws -> PrintedText {
        let account = event.account.description
        switch event.kind {
        case .message(let message), .state(let message), .unsettled(let message):
            var record = MessageRecord(message, event: event.kind.name, account: account, at: event.at)
            record.number = event.number
            return try JSONLine.of(record)
        default: return try JSONLine.of(record(event, account: account))
        }
    }

    private func record(_ event: EngineEvent, account: String) -> Record {
        var record = Record(event: event.kind.name, account: account, at: Stamp.of(event.at))
        switch event.kind {
        case .online(let jid, let resumed): (record.jid, record.resumed) = (jid, resumed)
        case .offline(let reason, let retryIn): (record.reason, record.retryIn) = (reason, retryIn)
        case .refused(let reason): record.reason = reason
        case .caughtUp(let problem): record.reason = problem
        case .roomRead(let room, let problem): (record.from, record.reason) = (room.description, problem)
        case .historyFilled(let room, let messages, let problem):
            (record.from, record.messages, record.reason) = (room?.description, messages, problem)
        case .quarantined(let reason, let sender): (record.reason, record.from) = (reason, sender)
        case .deadLetter(let letter): record.reason = letter.reason
        case .loggedOut(let removed): record.kind = removed ? "removed" : nil
        case .waitingForStorage(let reason, let retryIn): (record.reason, record.retryIn) = (reason, retryIn)
        case .missed(let count): record.messages = count
        case .slowStep(let kind, let milliseconds): (record.kind, record.milliseconds) = (kind, milliseconds)
        case .connecting, .storageAvailable, .message, .state, .unsettled: break
        }
        return record
    }
}

extension EngineEvent.Kind {
    /// The value of `event` in JSON.
    var name: String {
        switch self {
        case .connecting: "connecting"
        case .online: "online"
        case .offline: "offline"
        case .refused: "refused"
        case .message: "message"
        case .state: "state"
        case .unsettled: "unsettled"
        case .caughtUp: "caught_up"
        case .roomRead: "room_read"
        case .historyFilled: "history_filled"
        case .quarantined: "quarantined"
        case .deadLetter: "dead_letter"
        case .loggedOut: "logged_out"
        case .waitingForStorage: "waiting_for_storage"
        case .storageAvailable: "storage_available"
        case .missed: "missed"
        case .slowStep: "slow_step"
        }
    }
}
