import KalijCore

/// Provides the account's driver to the transfers of its files.
final class FileTransferHost: TransferHost {
    private weak var driver: AccountDriver?
    private let context: DriverContext

    init(_ driver: AccountDriver) { (self.driver, context) = (driver, driver.context) }

    /// The account's transfers; nil in a process that transfers no files.
    var transfers: Transfers? {
        guard let driver, let seams = context.files else { return nil }
        return Transfers(self, seams, loop: context.loop, FileSteps(runner: context.runner, account: driver.account))
    }

    var isOnline: Bool { driver?.stage.session != nil }
    var isLineBusy: Bool { driver?.stage.session?.isBusy ?? false }
    var isBlocked: Bool { driver?.storage.isWaiting ?? true }
    var end: Double? { context.end }
    func attempt(_ body: () throws -> Void) { driver?.attempt(body) }
    func release(_ effects: Step.Effects) {
        driver?.release(effects)
        // Another process may await the outcome of a file, or it may have been the last outstanding work of this one.
        context.loop.enqueue { [weak driver] in driver?.context.mayHaveEnded() }
    }
    func emit(_ content: any EventContent) { driver.map { context.emit(content, for: $0.account) } }
    func flush() { attempt { try driver?.stage.session?.flush() } }
}
