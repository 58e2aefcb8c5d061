import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import KalijTransport
import KalijUnifiedPush
import KalijWebPush

/// Does for an account what its distributor delivers: enables push with a new endpoint, and looks for new messages after a push.
final class PushConnector {
    private let shared: SharedOptions
    private let file: RegistrationFile
    private let session: ConnectorSession
    private var runner: LookRunner
    /// The registrations that no endpoint has arrived for in this process.
    private var missing: Set<String> = []
    private var isReplaced = false
    /// The registration that the user waits for, and the outcome.
    private var goal: (token: String, arguments: Arguments, outcome: Result<ExitStatus, Failure>?)?

    /// In milliseconds: before endpoints are requested again, because a call with one may have started this process; without a call
    /// before the end; for an endpoint that the user waits for.
    private static let (grace, linger, patience): (Int64, Int64, Int64) = (500, 5_000, 30_000)

    init(_ shared: SharedOptions, _ bus: UserBus, _ file: RegistrationFile, name: String) {
        (self.shared, self.file) = (shared, file)
        session = ConnectorSession(bus, file, name: name, now: Clock.system.now)
        let path = shared.directory.path
        runner = LookRunner { command in
            command.map { ["/bin/sh", "-c", $0] }
                ?? ["/proc/self/exe", "--config", "/dev/null", "--data", path, WakeCommand.name]
        }
    }

    private static var now: Int64 { Clock.system.monotonic() / 1_000_000 }

    // MARK: Running

    /// Serves distributors until none has called for a while.
    func serve() throws -> ExitStatus {
        try session.begin()
        missing = Set(try file.load().map(\.token))
        var requestAt: Int64? = Self.now + Self.grace
        var end = Self.now + Self.linger
        while true {
            try session.handle { event in
                end = Self.now + Self.linger
                try handle(event)
            }
            if let due = requestAt, due <= Self.now {
                requestAt = nil
                for registration in try file.load() where missing.contains(registration.token) {
                    try keep(registration)
                }
            }
            runner.advance(Self.now)
            if runner.isBusy { end = Self.now + Self.linger }
            if isReplaced || end <= Self.now {
                session.end()
                try session.handle { try handle($0) }
                guard runner.isBusy else { return .done }
            }
            session.bus.wait(pause(until: [requestAt, isReplaced ? nil : end, runner.next]), or: runner.descriptor)
        }
    }

    private func pause(until times: [Int64?]) -> Int? {
        times.compactMap { $0 }.min().map { Int(max(0, $0 - Self.now)) }
    }

    /// Requests the endpoint of a registration again, or ends a registration that the account's push has left.
    private func keep(_ registration: UnifiedPushRegistration) throws {
        if try isAbandoned(registration) { return try drop(registration) }
        try session.register(registration)
    }

    /// Registers, and enables push with the endpoint.
    /// - Parameter arguments: those of the command, for ``IntentRunner``.
    func register(_ registration: UnifiedPushRegistration, _ arguments: Arguments) throws -> ExitStatus {
        try session.begin()
        goal = (registration.token, arguments, nil)
        let deadline = Self.now + Self.patience
        try session.register(registration)
        while goal?.outcome == nil {
            try session.handle { try handle($0) }
            guard goal?.outcome == nil else { break }
            guard Self.now < deadline else {
                throw Failure(.unavailable, "\(registration.distributor) gives no endpoint within 30 s")
            }
            runner.advance(Self.now)
            session.bus.wait(pause(until: [deadline, runner.next]), or: runner.descriptor)
        }
        session.end()
        try session.handle { try handle($0) }
        // A push of another account has arrived meanwhile.
        while runner.isBusy {
            runner.advance(Self.now)
            session.bus.wait(pause(until: [runner.next]), or: runner.descriptor)
        }
        return try goal?.outcome?.get() ?? .unavailable
    }

    // MARK: Events

    private func handle(_ event: ConnectorSession.Event) throws {
        switch event {
        case .look(let registration):
            if try isAbandoned(registration) { return try drop(registration) }
            runner.request(registration.command)
        case .renew(let registration, let endpoint):
            missing.remove(registration.token)
            if try isAbandoned(registration) { return try drop(registration) }
            try renew(registration, endpoint)
        case .unchanged(let registration):
            missing.remove(registration.token)
            guard let endpoint = registration.endpoint else { return }
            if goal?.token == registration.token { return try renew(registration, endpoint) }
            if try isAbandoned(registration) { return try drop(registration) }
            if try !isEnabled(registration, endpoint) { try renew(registration, endpoint) }
        case .ended(let registration):
            missing.remove(registration.token)
            if !(try isAbandoned(registration)) { _ = try change(registration, DisablePush(), Arguments()) {} }
            try remove(registration)
            runner.request(registration.command)
        case .refused(let registration, let reason):
            conclude(registration, .failure(Failure(.unavailable, "\(registration.distributor): \(reason)")))
        case .replaced: isReplaced = true
        }
    }

    /// Enables push with an endpoint. The endpoint is stored when the change is accepted: a process that is killed before receives the
    /// endpoint again.
    private func renew(_ registration: UnifiedPushRegistration, _ endpoint: String) throws {
        let node: String
        do throws(PushSubscription.Fault) {
            node = try registration.node(for: endpoint)
        } catch {
            let failure = Failure(.unavailable, "\(registration.distributor): \(error)")
            return conclude(registration, .failure(failure))
        }
        let intent = EnablePush(try JID(registration.service), node: node, module: registration.module)
        let arguments = goal?.token == registration.token ? goal?.arguments : nil
        let outcome = Result {
            try change(registration, intent, arguments ?? Arguments()) {
                try update(registration) { $0.endpoint = endpoint }
            }
        }
        if case .success(.done) = outcome { try update(registration) { $0.isConfirmed = true } }
        // The session that enabled push may have received messages, which the server pushes no more.
        if goal == nil { runner.request(registration.command) }
        conclude(registration, outcome.mapError { Failure($0) })
    }

    private func conclude(_ registration: UnifiedPushRegistration, _ outcome: Result<ExitStatus, Failure>) {
        if goal?.token == registration.token {
            goal?.outcome = outcome
        } else if case .failure(let failure) = outcome {
            Output.error("\(failure.message)")
        }
    }

    private func change(
        _ registration: UnifiedPushRegistration, _ intent: some Intent, _ arguments: Arguments,
        _ accepted: () throws -> Void
    ) throws -> ExitStatus {
        try IntentRunner(arguments, shared).run(
            intent, of: JID(registration.account), waiting: !arguments.has("--queue-only"), accepted: accepted)
    }

    // MARK: Registrations

    /// Whether the account's push is no longer this registration's: it was disabled, replaced, or ended with a logout.
    private func isAbandoned(_ registration: UnifiedPushRegistration) throws -> Bool {
        let database = try shared.directory.read()
        guard
            let account = try? AccountTable(database).account(JID(registration.account), in: shared.directory)
        else { return true }
        let node = try PushRegistration.load(of: account, from: database)?.node
        if let node, registration.isOwn(node: node) {
            if !registration.isConfirmed { try update(registration) { $0.isConfirmed = true } }
            return false
        }
        return registration.isConfirmed
    }

    /// Whether the server pushes to an endpoint: a process that was killed may have stored the endpoint, and not enabled push.
    private func isEnabled(_ registration: UnifiedPushRegistration, _ endpoint: String) throws -> Bool {
        let database = try shared.directory.read()
        let account = try AccountTable(database).account(JID(registration.account), in: shared.directory)
        let push = try PushRegistration.load(of: account, from: database)
        return try push?.state == "enabled" && push?.node == registration.node(for: endpoint)
    }

    private func update(
        _ registration: UnifiedPushRegistration, _ body: (inout UnifiedPushRegistration) -> Void
    ) throws {
        try file.change { registrations in
            guard let index = registrations.firstIndex(where: { $0.token == registration.token }) else { return }
            body(&registrations[index])
        }
    }

    private func drop(_ registration: UnifiedPushRegistration) throws {
        try Distributor(registration.distributor).unregister(registration.token, registration.version, on: session.bus)
        try remove(registration)
    }

    private func remove(_ registration: UnifiedPushRegistration) throws {
        try file.change { $0.removeAll { $0.token == registration.token } }
    }
}
