import CLinux
import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import KalijTransport

/// `send -i`: each line of standard input is a message, accepted as soon as the line is read.
final class LineSender {
    private let arguments: Arguments
    private let shared: SharedOptions
    private let recipient: JID
    private let account: Account
    private let reader: HistoryReader
    private var driver: BackgroundDriver
    private let isDriving: Bool
    private let signals: SignalInput
    private var lines = LineBuffer(longest: 1 << 20)
    private var times: TimedLines
    private var number = 0
    private var badLines = 0
    private var isInterrupted = false
    private var reportedProblem: String?
    /// The ids of the newest messages, oldest first.
    private var accepted: [String] = []

    /// How many of the newest messages are checked at the end.
    private static let maxKept = 10_000
    /// How many nanoseconds to wait for an error after the server has accepted the last message; see ``MessageSender``.
    private static let timeout: Int64 = 1_000_000_000

    init(_ arguments: Arguments, _ shared: SharedOptions, to recipient: JID) throws {
        for option in ["--file", "--id", "--reply", "--keep-metadata"] where arguments.isPresent(option) {
            throw Failure(.usage, "-i sends many messages, and \(option) is for a single one")
        }
        guard arguments.operands.count == 1 else { throw Failure(.usage, "-i reads the texts from standard input") }
        (self.arguments, self.shared, self.recipient) = (arguments, shared, recipient)
        times = TimedLines(shared.clock)
        let database = try shared.directory.read()
        account = try AccountTable(database).account(
            try arguments.value("--account").map { try JID($0) }, in: shared.directory)
        reader = HistoryReader(database)
        driver = try BackgroundDriver()
        isDriving = !arguments.has("--queue-only")
        signals = try SignalInput([SIGTERM, SIGINT, SIGTSTP])
    }

    func run() throws -> ExitStatus {
        if isDriving { try driver.start(shared, of: account.jid.description) }
        var problem: Failure?
        do { try readAll() } catch { problem = Failure(error) }
        let failure = isDriving ? awaitEnd(atOnce: problem != nil) : nil
        let status = try report(failure)
        if let problem { throw problem }
        return status
    }

    // MARK: Reading

    private func readAll() throws {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !isInterrupted {
            let ready = wait(for: [signals.descriptor, STDIN_FILENO, driver.descriptor], until: nil)
            if ready.contains(driver.descriptor) { reportFailure(driver.state.failure) }
            guard ready.contains(STDIN_FILENO) else { continue }
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                throw Failure(.badInput, "standard input: \(String(cString: strerror(errno)))")
            }
            guard count > 0 else {
                if let line = lines.end() { try enqueue(line) }
                return
            }
            for line in lines.append(buffer[..<count]) {
                _ = wait(for: [signals.descriptor], until: 0)
                if isInterrupted { throw interrupted }
                try enqueue(line)
            }
        }
        var unread: Int32 = 0
        if ioctl(STDIN_FILENO, UInt(FIONREAD), &unread) == 0, unread > 0 || lines.isBegun { throw interrupted }
    }

    /// Exit status 0 would indicate that all of the input was accepted.
    private var interrupted: Failure {
        Failure(.temporaryFailure, "interrupted: line \(number) is the last that was accepted")
    }

    private func enqueue(_ line: LineBuffer.Line) throws {
        number += 1
        do {
            guard case .bytes(var bytes) = line else {
                throw Failure(.badInput, "longer than \(lines.maxLength) bytes")
            }
            if bytes.last == 0x0D { bytes.removeLast() }
            guard !bytes.isEmpty else { return }
            guard let text = String(validating: bytes, as: UTF8.self) else { throw Failure(.badInput, "not UTF-8") }
            let message = try shared.directory.share(
                text, to: recipient, from: account.jid, privacy: arguments.has("--plain") ? .plain : .asConversation)
            try reportAccepted(message)
        } catch {
            let failure = Failure(error)
            guard failure.status == .badInput else {
                throw Failure(
                    failure.status, "line \(number): \(failure.message); nothing was accepted from this line on")
            }
            badLines += 1
            let reason = failure.message
            if shared.json { Output.line(try JSONLine.of(BadLine(line: number, reason: reason))) }
            Output.error("line \(number): \(reason)")
        }
    }

    private struct BadLine: Encodable {
        var event = "error"
        let line: Int
        let reason: String
    }

    private func reportAccepted(_ message: Message) throws {
        Output.accepted()
        if let id = message.originID { accepted.append(id) }
        if accepted.count >= 2 * Self.maxKept { accepted.removeFirst(Self.maxKept) }
        let record = EventRecord(message, account: message.from, at: Clock.system.now())
        Output.line(shared.json ? try JSONLine.of(record) : times.next(message.line, at: message.sentAt))
    }

    /// The input may never end, so the user is informed at once why nothing is sent.
    private func reportFailure(_ failure: Failure?) {
        guard failure?.message != reportedProblem else { return }
        reportedProblem = failure?.message
        if let reportedProblem { Output.error("not online: \(reportedProblem)") }
    }

    // MARK: The end

    /// Waits until the last message is sent, like a single `send`; longer only while messages are being sent.
    /// - Returns: why messages remain.
    private func awaitEnd(atOnce: Bool) -> Failure? {
        let budget = Int64(BackgroundSender.budget) * 1_000_000_000
        var end = Clock.system.monotonic() + budget
        var state = driver.state
        var changes = state.changes
        var isSent = false
        var failedAt: Int64?
        while !atOnce, !isInterrupted, !state.isOver, Clock.system.monotonic() < end {
            if !isSent, isFinal() {
                isSent = true
                end = min(end, Clock.system.monotonic() + (state.isHandedOver || accepted.isEmpty ? 0 : Self.timeout))
            }
            if state.isHandedOver, isSent || !arguments.has("--confirm") { break }
            failedAt = isSent || state.failure == nil ? nil : failedAt ?? Clock.system.monotonic()
            // The driver retries, so only a lasting failure counts.
            let next = failedAt.map { min(end, $0 + Self.timeout * 3) } ?? end
            if failedAt != nil, Clock.system.monotonic() >= next { break }
            _ = wait(for: [signals.descriptor, driver.descriptor], until: next)
            state = driver.state
            if state.changes != changes, !isSent { end = Clock.system.monotonic() + budget }
            changes = state.changes
        }
        let failure = state.failure
        driver.end(within: BackgroundSender.budget)
        state = driver.state
        if isSent || isFinal() { return nil }
        if isInterrupted { return Failure(.temporaryFailure, "interrupted") }
        if state.isHandedOver, !arguments.has("--confirm") { return nil }
        return failure ?? Failure(.temporaryFailure, "not within \(Int(BackgroundSender.budget)) s")
    }

    /// Whether the server has the last message, and therefore all of them, or has refused it.
    private func isFinal() -> Bool {
        guard let last = accepted.last else { return true }
        let state = (try? reader.sent(last, by: account))?.flatMap { $0.state }
        return state == .failed || state?.isWithServer ?? false
    }

    private func report(_ failure: Failure?) throws -> ExitStatus {
        var refused = 0
        for id in accepted {
            guard let message = try reader.sent(id, by: account), message.state == .failed else { continue }
            refused += 1
            Output.error("refused: \(message.error?.description ?? "without a reason")")
            guard shared.json else { continue }
            Output.line(
                try JSONLine.of(EventRecord(message, event: "state", account: message.from, at: Clock.system.now())))
        }
        if let failure {
            Output.error("accepted, but not everything is sent yet: \(failure.message)")
            Output.notice("The next process that is online sends it: `kalij run`, `wake`, `send` or `flush`.")
        }
        if refused > 0 || badLines > 0 { return .badInput }
        return arguments.has("--confirm") ? failure?.status ?? .done : .done
    }

    /// - Parameter end: the deadline in nanoseconds of the monotonic clock; nil for none.
    /// - Returns: the readable ones of `descriptors`. Pending signals are handled.
    private func wait(for descriptors: [Int32], until end: Int64?) -> [Int32] {
        var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var milliseconds: Int32 = -1
        if let end {
            let left = (end - Clock.system.monotonic()) / 1_000_000 + 1
            milliseconds = end == 0 ? 0 : Int32(min(max(0, left), 3_600_000))  // fits: an hour at most
        }
        guard poll(&requests, nfds_t(requests.count), milliseconds) > 0 else { return [] }
        let ready = requests.filter { $0.revents != 0 }.map(\.fd)
        if ready.contains(signals.descriptor) { handleSignals() }
        return ready
    }

    private func handleSignals() {
        while let number = signals.next() {
            if number == SIGTSTP { freeze() } else { isInterrupted = true }
        }
    }

    /// Releases the fence before the stop: a stopped process must not prevent others from driving.
    private func freeze() {
        if isDriving {
            driver.end(within: BackgroundSender.budget)
        }
        raise(SIGSTOP)
        guard isDriving else { return }
        do {
            driver = try BackgroundDriver()
            try driver.start(shared, of: account.jid.description)
        } catch { Output.error("not online: \(Failure(error).message)") }
    }
}
