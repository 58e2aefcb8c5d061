import KalijFeatures
import KalijSteps

/// What keeps a process at work that ends by itself.
extension Engine {
    /// Whether anything waits to be sent or acknowledged, as far as the databases can tell.
    var hasQueued: Bool {
        (try? drivers.values.contains { try QueueSteps(runner: $0.context.runner, account: $0.account).isAny() }
            || isOwed() || hasShared) ?? true
    }

    /// Whether a feature has work left. A process that moves no files leaves files to the next process.
    private func isOwed() throws -> Bool {
        let isMoving = drivers.values.contains { $0.context.files != nil }
        return try anyReporter { try (isMoving || !$0.transfersFiles) && $0.hasOutstandingWork(for: $1, in: database) }
    }

    /// Whether a feature makes sure that the server will push.
    func isPreparing() -> Bool { (try? anyReporter { try $0.awaitsPushPrerequisite(for: $1, in: database) }) ?? false }

    private func anyReporter(_ body: (any WorkReporter.Type, Account) throws -> Bool) throws -> Bool {
        try drivers.values.contains { driver in
            try driver.context.runner.features.hooks.workReporters.contains { try body($0, driver.account) }
        }
    }
}
