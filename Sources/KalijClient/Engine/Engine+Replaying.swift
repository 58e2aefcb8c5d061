import KalijFeatures
import KalijCore
import KalijEngine

extension Engine {
    /// Processes the quarantined stanzas that are marked for another attempt, without a connection.
    /// - Parameters:
    ///   - options: with the application's handlers.
    ///   - onEvent: receives each event, after its commit.
    ///   - directory: the directory of the accounts.
    /// - Throws: `FenceError.held` if another process drives, which then processes the stanzas; `StoreError`.
    public static func replayQuarantine(
        _ directory: AccountDirectory, options: Options = Options(), onEvent: @escaping (EngineEvent) -> Void = { _ in }
    ) throws {
        let engine = try Engine(directory, options: options, onEvent: onEvent)
        for account in try AccountTable(engine.database).all() {
            guard let context = engine.context else { continue }
            while let effects = try Replay.next(of: account, context.runner) { context.emit(effects.events) }
        }
        if !engine.isCareful { try engine.fence.letGo(engine.database) }
    }
}
