import KalijCore

/// The outstanding work that keeps a process running which ends by itself.
extension Engine {
    /// Whether anything is pending to be sent or acknowledged, according to the databases.
    package var hasQueued: Bool {
        (try? drivers.values.contains { try QueueSteps(runner: $0.context.runner, account: $0.account).isAny() }
            || hasOutstandingWork() || hasShared) ?? true
    }

    /// Whether a feature has outstanding work. A process without the service of a feature leaves the service's work to the next process.
    private func hasOutstandingWork() throws -> Bool {
        try drivers.values.contains { driver in
            try reporters.contains { reporter in
                guard !reporter.worksInService || driver.due.services.has(reporter) else { return false }
                return try reporter.hasOutstandingWork(for: driver.account, in: database)
            }
        }
    }

    /// Whether a feature is setting up what the server needs to push.
    package func isPreparing() -> Bool {
        let isAny = try? drivers.values.contains { driver in
            try reporters.contains { try $0.awaitsPushPrerequisite(for: driver.account, in: database) }
        }
        return isAny ?? false
    }

    /// Whether something is being received from the servers for which a `wake` waits.
    package var isReceiving: Bool { get throws { try reporters.contains { try $0.isReceiving(in: database) } } }

    private var reporters: [any WorkReporter.Type] { context?.runner.features.hooks.workReporters ?? [] }
}
