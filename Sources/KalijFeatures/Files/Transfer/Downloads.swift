import KalijCore
import KalijText
import KalijTransfer

/// The downloads of an account in this process.
final class Downloads {
    // traps: never, the owner of this object
    private unowned let transfers: Transfers
    private let steps: FileSteps
    private var fetches: [Int64: DownloadTask] = [:]

    private var shares = DownloadShares()
    /// The account's own hosts when the last download started: only these measure the link.
    private var measured: [String] = []

    init(_ transfers: Transfers) { (self.transfers, steps) = (transfers, transfers.steps) }

    var account: Account { steps.account }
    private var now: Int64 { steps.runner.steadyNow }
    var isMoving: Bool { !fetches.isEmpty }

    func checkForWork() throws {
        for (message, fetch) in fetches {
            let row = try steps.attachments.row(of: message)
            if row?.state == .wanted {
                if row?.isAutomatic == false { shares.markRequested(message) }
                continue
            }
            fetch.cancel()
            fetches[message] = nil
            shares.end(message)
            transfers.folders.removeParts(message)
        }
        try begin(automatic: false)
        // The user does not wait for these files: a slow link and a short run are reserved for requested ones.
        if !isLinkSlow, transfers.host.end == nil { try begin(automatic: true) }
    }

    private func begin(automatic: Bool) throws {
        guard shares.hasRoom(automatic: automatic) else { return }
        let due = try steps.attachments.due(
            of: account.id, at: now, automatic: automatic, limit: DownloadShares.maxExamined)
        measured = Array(ownHosts)
        let messages = MessageReader(database: steps.runner.database, account: account.id)
        for row in due where shares.hasRoom(automatic: automatic) {
            let place = DownloadShares.Place(row, from: try messages.conversation(of: row.message))
            guard shares.acquire(row.message, place) else { continue }
            let fetch = DownloadTask(row, self, transfers)
            fetches[row.message] = fetch
            fetch.begin()
            transfers.keepPace()
        }
    }

    private var isLinkSlow: Bool { transfers.rate.isSlow || steps.runner.links[account.id]?.isSlow ?? false }

    /// When the next download is due, in milliseconds of the steady time.
    func nextTime() throws -> Int64? { try steps.attachments.nextDue(of: account.id).flatMap { $0 > now ? $0 : nil } }

    /// The hosts of the account's own server and of its upload service, which may have private addresses if the server has one.
    // characters: compared by bytes, one by one.
    var ownHosts: Set<String> { (try? UploadServices.hosts(of: account, in: steps.runner.database)) ?? [] }

    var serverAddress: String? { transfers.serverAddress }

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

    /// `more` further bytes were received, `bytes` of the file in total.
    func moved(_ more: Int64, of row: ReceivedFileRow, to bytes: Int64, isTold: Bool) {
        // The rate of a foreign server does not measure the link.
        let host = shares.places[row.message]?.host?.exact
        if measured.contains(where: { $0.exact == host }) { transfers.moved(more) }
        if isTold { transfers.host.emit(DownloadChanged(row.message, row.file, state: "loading", bytes: bytes)) }
    }

    /// - Returns: whether the step was committed.
    @discardableResult
    func ended(_ message: Int64, _ body: (ReceivedFiles) throws -> Void) -> Bool {
        fetches[message] = nil
        shares.end(message)
        let isDone = step(body)
        transfers.enqueueCheck()
        return isDone
    }

    func setPace(isPaused: Bool) {
        for fetch in fetches.values { fetch.setPace(isPaused: isPaused) }
    }

    func stop() {
        for fetch in fetches.values { fetch.cancel() }
        fetches = [:]
        shares.endAll()
    }
}
