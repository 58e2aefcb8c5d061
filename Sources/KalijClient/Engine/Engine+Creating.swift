import KalijCore
import KalijEngine
import KalijFeatures
import KalijTransport

extension Engine {
    /// Acquires the right to drive `directory`.
    /// - Parameters:
    ///   - onEvent: receives each event, after its commit.
    ///   - clock: the source of time.
    ///   - directory: the directory of the accounts.
    ///   - options: the engine's behaviour.
    /// - Throws: `FenceError.held` if another process drives and does not yield; `EngineError.handedOver` if that process has
    ///   accepted the push of this `wake`; `StoreError`; `DirectoryError`, `.unknownFeatures` if `options` lack a feature that
    ///   has driven before; `FeatureError` and `HandlerError` if the features are not valid.
    public convenience init(
        _ directory: AccountDirectory, options: Options = Options(), clock: Clock = .system,
        onEvent: @escaping (EngineEvent) -> Void
    ) throws {
        let features = try Features(options.features)
        let loop = try EventLoop()
        var resources = ServiceResources()
        resources[FileEnvironment.self] = .system(loop)
        var takingOver = DriverTakeover(
            directory: directory, role: options.role, clock: clock, schema: .accounts(options.features))
        let driven = try takingOver.run()
        try self.init(
            directory, options: options, clock: clock, since: takingOver.begin, features: features, loop: loop,
            environment: .system(loop, resources), driven: driven, onEvent: onEvent)
        if options.stopsOnSignals { try watchSignals() }
    }
}

extension Engine.Options {
    /// Shows a notification; returning means that it was shown. If the function throws, the notification remains pending and
    /// is delivered again later, or by the next process. Nil: pending notifications wait for a process that can show them.
    public var onNotification: ((Notification) throws -> Void)? {
        get { resources[NotificationOutput.self]?.show }
        set { output { $0.show = newValue } }
    }

    /// Passes notifications to tasks instead.
    var presenter: NotificationPresenter? {
        get { resources[NotificationOutput.self]?.presenter }
        set { output { $0.presenter = newValue } }
    }

    /// A process without output has no service for notifications.
    private mutating func output(_ change: (inout NotificationOutput) -> Void) {
        var output = resources[NotificationOutput.self] ?? NotificationOutput()
        change(&output)
        resources[NotificationOutput.self] = output.isEmpty ? nil : output
    }
}
