import KalijCore
import KalijTransfer
import KalijTransport

/// Transfers the files of an account: starts, pauses and ends transfers according to the rows, which hold all persistent state.
final class Transfers: FeatureService {
    let host: any AccountServiceHost
    let loop: any Scheduler
    let steps: FileSteps
    let folders: FileFolders
    let seams: FileEnvironment
    private lazy var uploading = UploadDriver(self)
    private lazy var downloads = Downloads(self)
    private var timer: Timer?
    private var pace: Timer?
    private var isPlanned = false
    private var hasBegun = false
    private var isStopped = false
    /// Measured in this process.
    private(set) var rate = TransferRate()

    init(_ host: any AccountServiceHost, _ seams: FileEnvironment) {
        (self.host, self.seams, loop) = (host, seams, host.loop)
        steps = FileSteps(runner: host.runner, account: host.account)
        folders = FileFolders(beside: steps.runner.database)
    }

    func sessionDidBegin(isResumed: Bool) { enqueueCheck() }

    func stepDidCommit(_ effects: Step.Effects, isSignalled: Bool) { if isSignalled { enqueueCheck() } }

    // MARK: Looking for work

    /// Rows have changed: checks for work in the loop's next turn.
    func enqueueCheck() {
        guard !isPlanned, !isStopped else { return }
        isPlanned = true
        loop.enqueue { [weak self] in
            self?.isPlanned = false
            self?.checkForWork()
        }
    }

    private func checkForWork() {
        guard !isStopped else { return }
        guard !host.isBlocked else { return scheduleCheck(after: 1) }
        host.attempt {
            guard try PendingFileWork.isAny(in: steps.runner.database) else { return }
            try begin()
            if let effects = try OwnFiles(steps: steps, folders: folders).link() { host.release(effects) }
            try removeGarbage()
            try uploading.checkForWork(mayBegin: host.isOnline)
            try downloads.checkForWork()
            let now = steps.runner.steadyNow
            if let next = try [uploading.nextTime(), downloads.nextTime()].compactMap({ $0 }).min() {
                scheduleCheck(after: Double(next - now) / 1000)
            }
        }
        if host.isBlocked { scheduleCheck(after: 1) }
    }

    private func begin() throws {
        guard !hasBegun else { return }
        host.release(try steps.upload { try $0.processBegan() })
        hasBegun = true
    }

    /// Removes the files that committed rows no longer need: first the file, then the row.
    private func removeGarbage() throws {
        let garbage = try FileDeletionQueue.some(in: steps.runner.database)
        guard !garbage.isEmpty else { return }
        for file in garbage { folders.remove(file.name) }
        try steps.runner.write { try FileDeletionQueue.removed(garbage, in: $0) }
        if garbage.count == FileDeletionQueue.batchSize { enqueueCheck() }
    }

    private func scheduleCheck(after seconds: Double) {
        timer?.cancel()
        guard !isStopped else { return }
        timer = loop.schedule(after: min(max(0.01, seconds), 86_400)) { [weak self] in self?.enqueueCheck() }
    }

    /// The address at which the account's server was last reached.
    var serverAddress: String? {
        (try? EndpointRow.last(of: steps.account.id, in: steps.runner.database))?.endpoint.address
    }

    // MARK: The line

    private static let interval = 0.1

    /// `bytes` bytes were sent or received.
    func moved(_ bytes: Int64) { rate.moved(bytes, now: loop.now) }

    /// Stanzas have precedence over files: transfers pause while the stream has bytes to send, or awaits an acknowledgement.
    func keepPace() {
        guard pace == nil, !isStopped else { return }
        // The time until the next transfer does not measure the link.
        guard uploading.isMoving || downloads.isMoving else { return rate.interrupted() }
        pace = loop.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            pace = nil
            let isBusy = host.isLineBusy
            uploading.setPace(isPaused: isBusy, sendBuffer: rate.sendBuffer)
            downloads.setPace(isPaused: isBusy)
            if isBusy { rate.interrupted() }
            keepPace()
        }
    }

    // MARK: Ends

    /// Cancels all transfers without counting a failure. The next process resumes them.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        uploading.stop()
        downloads.stop()
        timer?.cancel()
        pace?.cancel()
        // The rows are left to the next process.
        guard (try? PendingFileWork.isAny(in: steps.runner.database)) ?? false else { return }
        for file in (try? FileDeletionQueue.some(in: steps.runner.database)) ?? [] { folders.remove(file.name) }
    }
}
