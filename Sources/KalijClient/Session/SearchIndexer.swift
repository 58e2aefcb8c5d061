import KalijFeatures
import KalijSteps
import KalijTransport

/// Indexes stored texts for the search, in the driver: a while after texts were stored, in short transactions with pauses, so that
/// neither messages nor other processes wait. Not while a process only fetches or only sends: its time is short.
final class SearchIndexer {
    private let runner: StepRunner
    private let loop: any Scheduler
    private var timer: Timer?

    /// The seconds from a stored text to its index: a conversation is indexed in portions, and not word by word. A search looks
    /// through the texts that are not indexed yet.
    private static let delay = 10.0
    /// The seconds between two portions of some milliseconds.
    private static let pause = 0.1

    init(_ runner: StepRunner, on loop: any Scheduler) { (self.runner, self.loop) = (runner, loop) }

    /// Texts were stored or changed, or perhaps so.
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
        // After an error, of the disk or of the fence, the next stored text is the next chance: a search does not need the index.
        guard let isMore = try? workOnce(), isMore else { return }
        plan(after: Self.pause)
    }

    /// - Returns: whether there may be more to do.
    private func workOnce() throws -> Bool {
        guard try SearchIndex(database: runner.database).hasWork() else { return false }
        var isMore = false
        try runner.note { isMore = try SearchIndex(database: $0).work() }
        return isMore
    }
}
