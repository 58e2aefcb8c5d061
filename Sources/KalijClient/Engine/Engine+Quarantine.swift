import KalijSteps

extension Engine {
    /// Tries the stanzas of the quarantine again that are to be, without going online.
    /// - Parameters:
    ///   - options: with the application's handlers.
    ///   - onEvent: told each event, after what it tells is committed.
    ///   - directory: whose accounts.
    /// - Throws: `FenceError.held` if another process drives: that one does it; `StoreError`.
    public static func replayQuarantine(
        _ directory: AccountDirectory, options: Options = Options(), onEvent: @escaping (EngineEvent) -> Void = { _ in }
    ) throws {
        let engine = try Engine(directory, options: options, onEvent: onEvent)
        for account in try AccountTable(engine.database).all() {
            guard let context = engine.context else { continue }
            let steps = SessionSteps(runner: context.runner, account: account)
            while let effects = try steps.replayNext() { context.emit(effects.events) }
        }
        if !engine.isCareful { try engine.fence.letGo(engine.database) }
    }
}
