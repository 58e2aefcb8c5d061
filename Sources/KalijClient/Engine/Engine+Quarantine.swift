import KalijFeatures
import KalijSteps

extension Engine {
    /// Processes stanzas marked for another try in the quarantine, without going online.
    /// - Parameters:
    ///   - options: with the application's handlers.
    ///   - onEvent: gets each event, after its commit.
    ///   - directory: the directory of the accounts.
    /// - Throws: `FenceError.held` if another process drives: that process tries the stanzas; `StoreError`.
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
