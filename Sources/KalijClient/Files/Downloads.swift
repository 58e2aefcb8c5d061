import KalijFeatures
import KalijSteps
import KalijTransfer

/// The downloads of an account in this process.
final class Downloads {
    // traps: never, the owner of this object
    private unowned let transfers: Transfers
    private let steps: FileSteps
    private var fetches: [Int64: Fetch] = [:]

    private static let most = 2

    init(_ transfers: Transfers) { (self.transfers, steps) = (transfers, transfers.steps) }

    var account: Account { steps.account }
    private var now: Int64 { steps.runner.steadyNow }
    var isMoving: Bool { !fetches.isEmpty }

    func lookForWork() throws {
        for (message, fetch) in fetches where try steps.attachments.row(of: message)?.state != .wanted {
            fetch.cancel()
            fetches[message] = nil
            transfers.folders.removeParts(message)
        }
        guard fetches.count < Self.most else { return }
        for row in try steps.attachments.due(of: account.id, at: now, limit: 10)
        where fetches.count < Self.most && fetches[row.message] == nil {
            // Nobody waits for the file: a slow link and a short time are the user's.
            if row.isAutomatic, transfers.rate.isSlow || transfers.host.end != nil { continue }
            let fetch = Fetch(row, self, transfers)
            fetches[row.message] = fetch
            fetch.begin()
            transfers.keepPace()
        }
    }

    /// When there is something to do next, in milliseconds of the steady time.
    func nextTime() throws -> Int64? { try steps.attachments.nextDue(of: account.id).flatMap { $0 > now ? $0 : nil } }

    /// The hosts that may have private addresses: the account's own server and its service.
    // characters: compared by bytes, one by one.
    var ownHosts: Set<String> { (try? UploadServices.hosts(of: account, in: steps.runner.database)) ?? [] }

    /// - Returns: whether the step was committed: the disk may be full.
    @discardableResult
    func step(_ body: (ReceivedFiles) throws -> Void) -> Bool {
        var isDone = false
        transfers.host.attempt {
            let effects = try steps.download(body)
            isDone = true
            transfers.host.release(effects)
        }
        return isDone
    }

    /// So many bytes more have come, of now `bytes` of the file.
    func moved(_ more: Int64, of row: ReceivedFileRow, to bytes: Int64, isTold: Bool) {
        transfers.moved(more)
        if isTold { transfers.host.emit(DownloadChanged(row.message, row.file, state: "loading", bytes: bytes)) }
    }

    /// - Returns: whether the step was committed.
    @discardableResult
    func ended(_ message: Int64, _ body: (ReceivedFiles) throws -> Void) -> Bool {
        fetches[message] = nil
        let isDone = step(body)
        transfers.look()
        return isDone
    }

    func setPace(isPaused: Bool) {
        for fetch in fetches.values { fetch.setPace(isPaused: isPaused) }
    }

    func stop() {
        for fetch in fetches.values { fetch.cancel() }
        fetches = [:]
    }
}
