import KalijClient
import KalijCoordination
import KalijText

/// The output of `status`.
struct StatusRecord: Encodable {
    private let directory: String
    private let driver: Driver?
    private let accounts: [AccountRecord]
    private let quarantine: [QuarantineRecord]
    private let deadLetters: [LetterRecord]
    private let slowSteps: [SlowRecord]
    /// The number of the last event, as an argument of `run --since`.
    var lastEvent: Int64?

    private enum CodingKeys: String, CodingKey {
        case directory, driver, accounts, quarantine
        case deadLetters = "dead_letters"
        case slowSteps = "slow_steps"
        case lastEvent = "last_event"
    }

    private struct Driver: Encodable {
        let role: String
        let pid: Int32
        let since: String
    }

    private struct AccountRecord: Encodable {
        let account: String
        let state: String
        let jid: String?
        let resumable: Bool
        let lastOnline: String?
        let carbons: Bool
        let archive: Bool
        let catchUp: String?
        let catchUpProblem: String?
        let stored, queued, inMailbox, sent, unsettled, failed, queuedStanzas, notifications: Int
        let gaps: [GapRecord]
        let link: LinkRecord?
        let features: EventRecord
        let words: [PrintedText]

        private enum CodingKeys: String, CodingKey {
            case account, state, jid, resumable, carbons, archive, stored, queued, sent, unsettled, failed
            case notifications, gaps, link, features
            case lastOnline = "last_online"
            case catchUp = "catch_up"
            case catchUpProblem = "catch_up_problem"
            case inMailbox = "in_mailbox"
            case queuedStanzas = "queued_stanzas"
        }
    }

    private struct LetterRecord: Encodable {
        let id: Int64
        let account, at, origin, handler, reason: String
    }

    private struct SlowRecord: Encodable {
        let kind: String
        let count, longest: Int
    }

    init(
        directory: String, driver: FenceOwner?, accounts: [StatusReader.AccountStatus],
        quarantine: [Quarantine.Stanza], deadLetters: [DeadLetter], slowSteps: [StatusReader.SlowStep]
    ) {
        self.directory = directory
        self.driver = driver.map { Driver(role: $0.role.rawValue, pid: $0.pid, since: Stamp.of($0.since)) }
        self.accounts = accounts.map { status in
            AccountRecord(
                account: status.account.jid.description, state: status.account.state.rawValue, jid: status.boundJID,
                resumable: status.isResumable,
                lastOnline: status.lastOnline.map(Stamp.of), carbons: status.hasCarbons, archive: status.hasArchive,
                catchUp: status.catchUp,
                catchUpProblem: status.catchUpProblem, stored: status.storedMessages, queued: status.queuedMessages,
                inMailbox: status.messagesInMailbox, sent: status.sentMessages, unsettled: status.unsettledMessages,
                failed: status.failedMessages,
                queuedStanzas: status.queuedStanzas, notifications: status.pendingNotifications,
                gaps: status.gaps.map { GapRecord($0, account: status.account.jid.description) },
                link: status.link.map(LinkRecord.init), features: EventRecord(status.features),
                words: status.features.compactMap(Self.text))
        }
        self.quarantine = quarantine.map { QuarantineRecord($0) }
        self.deadLetters = deadLetters.map {
            LetterRecord(
                id: $0.id, account: $0.account, at: Stamp.of($0.at), origin: $0.origin.rawValue, handler: $0.name,
                reason: $0.reason)
        }
        self.slowSteps = slowSteps.map { SlowRecord(kind: $0.kind, count: $0.count, longest: $0.longest) }
    }

    /// The lines for people.
    /// - Parameter verbose: whether to include the links.
    func lines(verbose: Bool, _ clock: WallClock) -> [PrintedText] {
        var lines: [PrintedText] = [
            "directory: \(directory)",
            "driver: \(driver.map { "\($0.role), process \($0.pid), since \($0.since)" } ?? "none")",
        ]
        for account in accounts {
            lines += self.lines(account, clock)
            if verbose { lines += account.link?.lines ?? [] }
        }
        for stanza in quarantine {
            lines.append("set aside: " + stanza.line)
        }
        for letter in deadLetters {
            lines.append(
                letter.origin == DeadLetter.Origin.share.rawValue
                    ? "not taken over \(letter.at): a message of \(letter.account): \(letter.reason)"
                    : "not called \(letter.at): a callback of \(letter.account) for a \(letter.origin): \(letter.reason)"
            )
        }
        for step in slowSteps {
            lines.append("slow: \(step.kind) took over 1 s \(step.count) times, at most \(step.longest) ms")
        }
        return lines
    }

    /// The field of a feature, as a line for people; nil if it is not worth a line.
    private static func text(_ field: EventField) -> PrintedText? {
        let name = field.key.name.replacing("_", with: " ")
        return switch field.value {
        case .integer(0), .flag(false): nil
        case .text(let text): "  \(name): \(text)"
        case .integer(let number): "  \(name): \(number)"
        case .number(let number): "  \(name): \(number)"
        case .time(let time): "  \(name): \(Stamp.of(time))"
        case .texts(let texts): "  \(name): \(texts.joined(separator: ", "))"
        case .lists(let lists): "  \(name): \(lists.map(\.name).joined(separator: ", "))"
        case .object(let fields): "  \(name): \(fields.map(\.key.name).joined(separator: ", "))"
        case .flag(true): "  \(name)"
        }
    }

    private func lines(_ account: AccountRecord, _ clock: WallClock) -> [PrintedText] {
        var lines: [PrintedText] = ["account: \(account.account)\(account.state == "active" ? "" : ", logged out")"]
        lines.append(
            "  session: \(account.jid ?? "none")" + (account.resumable ? ", can be resumed" : "")
                + (account.lastOnline.map { ", last online \($0)" } ?? "")
                + (account.carbons ? ", with copies of other clients' messages" : ""))
        let catchUp = account.catchUpProblem ?? (account.catchUp == "done" ? "read to its end" : "being read")
        lines.append("  archive: \(account.archive ? catchUp : "none known")")
        lines.append(
            "  messages: \(account.stored) stored, \(account.queued) queued, \(account.sent) sent and not acknowledged, "
                + "\(account.failed) failed")
        if account.inMailbox > 0 {
            lines.append("  in the mailbox: \(account.inMailbox) of the queued, until a process drives")
        }
        if account.notifications > 0 {
            lines.append("  notifications: \(account.notifications) not shown yet")
        }
        lines += account.gaps.map { "  missing: \($0.text(clock))" }
        lines += account.words
        if account.unsettled > 0 {
            lines.append("  outcome unknown: \(account.unsettled) messages sent in a lost session")
        }
        return lines
    }
}
