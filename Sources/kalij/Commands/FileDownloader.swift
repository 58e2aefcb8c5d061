import Glibc
import KalijAddress
import KalijClient
import KalijFiles
import KalijLab
import KalijCoordination
import KalijText
import KalijTransport

/// Waits for the file of a message; drives if no other process does.
final class FileDownloader {
    private let shared: SharedOptions
    private let account: Account
    private let attachments: Attachments
    private let terminal = Terminal()
    private let bar = ProgressBar()
    /// The time of the last progress, in nanoseconds of the monotonic clock.
    private var movedAt = Clock.system.monotonic()

    /// The timeout without progress, in nanoseconds.
    private static let timeout: Int64 = 60_000_000_000

    init(_ shared: SharedOptions, _ account: Account) {
        (self.shared, self.account) = (shared, account)
        attachments = Attachments(shared.directory, of: account.jid)
    }

    /// - Parameter path: the destination of a copy; nil for none.
    func run(_ message: MessageReference, to path: String?) throws -> ExitStatus {
        guard let (row, known) = try attachments.file(of: message) else {
            throw Failure(.badInput, "there is no such message, or it shares no file")
        }
        let destination = try path.map { try Destination($0, named: known.name ?? "file") }
        if known.state != .stored { try fetch(row) }
        guard let file = try attachments.file(of: .row(row))?.file else {
            throw Failure(.badInput, "the message is gone")
        }
        guard file.state == .stored, let stored = file.path else {
            Output.error("not here yet: \(file.problem ?? "no answer so far"); the next driving process goes on")
            return .temporaryFailure
        }
        try reportDownload(row, file, at: try destination?.copy(stored) ?? stored)
        return .done
    }

    private func fetch(_ row: Int64) throws {
        let intent = try attachments.download(.row(row))
        let reader = HistoryReader(try shared.directory.read())
        try WaitForDriver(directory: shared.directory).wait(
            until: { [self] () throws -> Bool in
                if ![nil, .pending].contains(try reader.outcome(of: intent, by: account)) { return true }
                return Clock.system.monotonic() >= movedAt + Self.timeout
            }, next: { [self] in movedAt + Self.timeout },
            drive: { [self] in try drive(intent, row) })
        terminal.clear()
        if case .failed(let reason)? = try reader.outcome(of: intent, by: account) {
            throw Failure(.badInput, "the file cannot be fetched: \(reason)")
        }
    }

    private func drive(_ intent: String, _ row: Int64) throws {
        let reader = HistoryReader(try shared.directory.read())
        let progress = Progress(of: account.jid.description, endsUnreached: false) { [weak self] in self?.see($0, row) }
        var timer: Timer?
        defer { timer?.cancel() }
        let outcome = BackgroundSender.send(shared, progress, within: nil) { [self, weak progress] () throws -> Bool in
            timer?.cancel()
            timer = progress?.engine?.loop.schedule(after: Double(Self.timeout) / 1e9) { [weak progress] in
                progress?.engine?.stop()
            }
            return try ![nil, .pending].contains(reader.outcome(of: intent, by: account))
        }
        switch outcome {
        case .driven: try progress.checkInterruption()
        // The other process downloads: this process listens.
        case .handedOver: throw FenceError.stale(mine: 0, now: 0)
        case .failed(let failure): throw failure
        }
    }

    private func see(_ event: EngineEvent, _ row: Int64) {
        guard let change = event.content as? DownloadChanged, change.message == row else { return }
        movedAt = Clock.system.monotonic()
        guard let bytes = change.bytes, !shared.json else { return }
        let size = change.file.size.map { Double(max(1, $0)) }
        terminal.show(bar.line(fraction: size.map { Double(bytes) / $0 } ?? 0, details: "\(bytes) bytes"))
    }

    private func reportDownload(_ row: Int64, _ file: MessageFile, at path: String) throws {
        guard shared.json else {
            Output.line("\(path)")
            return
        }
        var fields = DownloadChanged(row, file).fields.filter { $0.key != .path }
        fields.append(EventField(.path, .text(path)))
        Output.line(
            try JSONLine.of(
                EventRecord(
                    DownloadChanged.name, account: account.jid.description, at: Clock.system.now(), fields)))
    }
}

/// The destination of a received file.
private struct Destination {
    private let folder: String
    private let name: String
    /// Whether the user specified a file, not a folder.
    private let isFile: Bool

    /// - Throws: `Failure` if the file exists, or the folder does not.
    init(_ path: String, named suggested: String) throws {
        var status = stat()
        guard stat(path, &status) != 0 else {
            guard status.st_mode & S_IFMT == S_IFDIR else { throw Failure(.badInput, "\(path) exists already") }
            (folder, name, isFile) = (path, suggested, false)
            return
        }
        let slash = path.lastIndex(of: "/")
        folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        isFile = true
        guard !name.isEmpty, stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(.badInput, "there is no folder \(folder)")
        }
    }

    /// - Returns: the path of the copy.
    func copy(_ stored: String) throws -> String {
        try FileCopy.make(of: stored, named: name, in: folder, exactly: isFile)
    }
}
