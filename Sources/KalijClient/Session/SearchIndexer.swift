import KalijFeatures
import KalijCore
import KalijTransport

/// Indexes stored texts for the search, in the driver: some time after texts were stored, in short transactions with pauses, so
/// that neither messages nor other processes are delayed. A process that only fetches or only sends indexes nothing, because its
/// time is short.
final class SearchIndexer {
    private let runner: StepRunner
    private let loop: any Scheduler
    private var timer: Timer?

    /// The delay in seconds between storing and indexing a text: a conversation is indexed in portions, not message by message. A
    /// search scans the texts that are not indexed yet.
    private static let delay = 10.0
    /// The pause in seconds between two portions, which take some milliseconds each.
    private static let pause = 0.1

    init(_ runner: StepRunner, on loop: any Scheduler) { (self.runner, self.loop) = (runner, loop) }

    /// Texts were stored or changed, or may have been.
    func later() { plan(after: Self.delay) }

    func cancel() {
        timer?.cancel()
        timer = nil
    }

    private func plan(after seconds: Double) {
        if timer == nil { timer = loop.schedule(after: seconds) { [weak self] in self?.work() } }
    }

    private func work() {
        timer = nil
        // After an error of the disk or of the fence, the next stored text schedules another attempt: a search does not require
        // the index.
        guard let isMore = try? workOnce(), isMore else { return }
        plan(after: Self.pause)
    }

    /// - Returns: whether more work may remain.
    private func workOnce() throws -> Bool {
        guard try SearchIndex(database: runner.database).hasWork() else { return false }
        var isMore = false
        try runner.note { isMore = try SearchIndex(database: $0).work() }
        return isMore
    }
}
