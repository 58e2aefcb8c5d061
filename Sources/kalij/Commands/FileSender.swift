import KalijAddress
import KalijClient
import KalijLab
import KalijCoordination
import KalijText
import KalijTransport

/// Accepts a file, and ensures that it is uploaded and its message sent.
final class FileSender {
    private let arguments: Arguments
    private let shared: SharedOptions
    private let terminal = Terminal()
    private let bar = ProgressBar()
    private weak var engine: Engine?
    private var silence: Timer?
    /// Whether there was no progress for ``timeout``.
    private var isSilent = false

    /// The timeout without progress, in seconds: a server that does not respond must not keep this process running for ever.
    private static let timeout = 180.0

    init(_ arguments: Arguments, _ shared: SharedOptions) { (self.arguments, self.shared) = (arguments, shared) }

    func send(_ path: String, to recipient: JID) throws -> ExitStatus {
        guard arguments.value("--reply") == nil else { throw Failure(.usage, "a file cannot answer a message") }
        let jid = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(try shared.directory.read()).account(jid, in: shared.directory)
        let upload = try accept(path, for: recipient, account)
        Output.accepted()
        try reportAccepted(upload)
        guard !arguments.has("--queue-only") else { return .done }
        let failure = try drive(upload.id, account)
        return try report(upload.id, account, failure)
    }

    private func accept(_ path: String, for recipient: JID, _ account: Account) throws -> Attachments.Upload {
        do {
            return try Attachments(shared.directory, of: account.jid).send(
                path, to: recipient, text: arguments.operands.count == 2 ? arguments.operands[1] : nil,
                id: arguments.value("--id"), keepingMetadata: arguments.has("--keep-metadata"),
                privacy: arguments.has("--plain") ? .plain : .asConversation)
        } catch { throw Failure(error, file: path) }
    }

    private func reportAccepted(_ upload: Attachments.Upload) throws {
        let record = UploadRecord(upload)
        Output.line(shared.json ? try JSONLine.of(record) : record.line)
    }

    // MARK: Driving

    /// - Returns: why the message was not sent yet; nil if it was, or if another process sends it.
    private func drive(_ id: String, _ account: Account) throws -> Failure? {
        let reader = HistoryReader(try shared.directory.read())
        let isKnown = { ![nil, .pending].contains(try reader.outcome(of: id, by: account)) }
        let progress = Progress(of: account.jid.description, endsUnreached: true) { [weak self] in self?.see($0, id) }
        let outcome = BackgroundSender.send(shared, progress, within: nil) { [weak self, weak progress] in
            self?.engine = progress?.engine
            self?.listen()
            return true
        }
        silence?.cancel()
        terminal.clear()
        switch outcome {
        case .failed(let failure): return failure
        case .driven:
            if isSilent { return Failure(.temporaryFailure, "nothing has moved for \(Int(Self.timeout)) s") }
            return progress.problem.map { Failure(.unavailable, $0) }
        case .handedOver:
            guard arguments.has("--confirm") else { return nil }
            try awaitOther(id, account, isKnown)
            return nil
        }
    }

    /// Another process uploads the file. This process waits while the upload is in progress.
    private func awaitOther(_ id: String, _ account: Account, _ isKnown: @escaping () throws -> Bool) throws {
        let attachments = Attachments(shared.directory, of: account.jid)
        var deadline = Clock.system.monotonic() + Int64(BackgroundSender.budget) * 1_000_000_000
        try WaitForDriver(directory: shared.directory).wait(
            until: {
                if try isKnown() { return true }
                let now = Clock.system.monotonic()
                if now >= deadline, try attachments.uploads().contains(where: { $0.id == id && $0.isMoving }) {
                    deadline = now + Int64(BackgroundSender.budget) * 1_000_000_000
                }
                return now >= deadline
            }, next: { deadline },
            drive: {
                let progress = Progress(of: account.jid.description, endsUnreached: true)
                _ = BackgroundSender.send(shared, progress, within: nil)
                try progress.checkInterruption()
            })
    }

    private func listen() {
        guard silence == nil else { return }
        wait()
    }

    private func wait() {
        silence?.cancel()
        silence = engine?.loop.schedule(after: Self.timeout) { [weak self] in
            self?.isSilent = true
            self?.engine?.stop()
        }
    }

    private func see(_ event: EngineEvent, _ id: String) {
        if silence != nil { wait() }
        guard let upload = event.content as? UploadChanged, upload.id == id, let bytes = upload.bytes, !shared.json
        else { return }
        let fraction = Double(bytes) / Double(max(1, upload.size))
        terminal.show(bar.line(fraction: fraction, details: "\(bytes) of \(upload.size) bytes"))
    }

    // MARK: The outcome

    private func report(_ id: String, _ account: Account, _ failure: Failure?) throws -> ExitStatus {
        let reader = HistoryReader(try shared.directory.read())
        let message = try reader.sent(id, by: account)
        if let message {
            let record = EventRecord(message, event: "state", account: message.from, at: Clock.system.now())
            Output.line(shared.json ? try JSONLine.of(record) : message.line(shared.clock))
        }
        if let message, message.state == .failed {
            Output.error("not sent: \(message.error?.description ?? "without a reason")")
            return .badInput
        }
        if message?.state?.isWithServer ?? false { return .done }
        let upload = try Attachments(shared.directory, of: account.jid).uploads().first { $0.id == id }
        if let reason = failure?.message ?? upload?.reason {
            Output.error("accepted, but not sent yet: \(reason)")
            Output.notice(
                "The next process that is online goes on: `kalij run`, `send` or `flush`. `kalij uploads` lists it.")
        }
        return arguments.has("--confirm") ? failure?.status ?? .temporaryFailure : .done
    }
}

extension Attachments.Upload {
    /// Whether the upload transfers bytes, or awaits a response.
    var isMoving: Bool { ["mailbox", "asking", "putting", "sealed", "done"].contains(state) }
}

/// A pending upload, in JSON or as a line.
struct UploadRecord: Encodable {
    private let event = "upload"
    private let account: String
    private let at: String
    private let originID: String
    private let to: String
    private let fileName: String
    private let bytes: Int64?
    private let size: Int64
    private let transfer: String
    private let reason: String?
    private let encrypted: Bool

    private enum CodingKeys: String, CodingKey {
        case event, account, at, to, bytes, size, transfer, reason, encrypted
        case originID = "origin_id"
        case fileName = "file_name"
    }

    init(_ upload: Attachments.Upload) {
        (account, at) = (upload.from.description, Stamp.of(upload.acceptedAt))
        (originID, to, fileName) = (upload.id, upload.to.description, upload.name)
        (bytes, size, transfer, reason) = (upload.bytes, upload.size, upload.state, upload.reason)
        encrypted = upload.isEncrypted
    }

    /// The text for people.
    var line: PrintedText {
        let words: PrintedText = reason.map { " (\($0))" } ?? ""
        let part: PrintedText = bytes.map { "\($0) of " } ?? ""
        return
            "\(at) \(originID) to \(to): \(fileName), \(part)\(size) bytes\(encrypted ? ", encrypted" : ""): \(transfer)\(words)"
    }
}
