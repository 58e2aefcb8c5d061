import KalijFeatures
import KalijCore

/// The outstanding work that keeps a process running which ends by itself.
extension Engine {
    /// Whether anything is pending to be sent or acknowledged, according to the databases.
    var hasQueued: Bool {
        (try? drivers.values.contains { try QueueSteps(runner: $0.context.runner, account: $0.account).isAny() }
            || isOwed() || hasShared) ?? true
    }

    /// Whether a feature has outstanding work. A process that transfers no files leaves files to the next process.
    private func isOwed() throws -> Bool {
        let isMoving = drivers.values.contains { $0.context.files != nil }
        return try anyReporter { try (isMoving || !$0.transfersFiles) && $0.hasOutstandingWork(for: $1, in: database) }
    }

    /// Whether a feature is setting up what the server needs to push.
    func isPreparing() -> Bool { (try? anyReporter { try $0.awaitsPushPrerequisite(for: $1, in: database) }) ?? false }

    private func anyReporter(_ body: (any WorkReporter.Type, Account) throws -> Bool) throws -> Bool {
        try drivers.values.contains { driver in
            try driver.context.runner.features.hooks.workReporters.contains { try body($0, driver.account) }
        }
    }
}
