import KalijCore
import KalijTransport

/// Indexes stored texts for the search, in the driver: some time after texts were stored, in short transactions with pauses, so
/// that neither messages nor other processes are delayed. A process that only fetches or only sends indexes nothing, because its
/// time is short.
final class SearchIndexer: FeatureService {
    private let host: any ServiceHost
    private var timer: Timer?

    /// The delay in seconds between storing and indexing a text: a conversation is indexed in portions, not message by message. A
    /// search scans the texts that are not indexed yet.
    private static let delay = 10.0
    /// The pause in seconds between two portions, which take some milliseconds each.
    private static let pause = 0.1

    init(_ host: any ServiceHost) { self.host = host }

    func start() { plan(after: Self.delay) }

    func stepDidCommit(_ effects: Step.Effects, isSignalled: Bool) { if effects.texts { start() } }

    func stop() {
        timer?.cancel()
        timer = nil
    }

    private func plan(after seconds: Double) {
        if timer == nil { timer = host.loop.schedule(after: seconds) { [weak self] in self?.work() } }
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
        guard try SearchIndex(database: host.runner.database).hasWork() else { return false }
        var isMore = false
        try host.runner.write { isMore = try SearchIndex(database: $0).work() }
        return isMore
    }
}
