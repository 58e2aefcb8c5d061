import Dispatch
import KalijClient
import KalijRoles
import KalijStore
import Synchronization

/// A login that can be given up at once: what a cancelled login has found is dropped, and nothing is stored.
public final class LoginAttempt: Sendable {
    private enum State: Sendable { case trying, cancelled, storing }
    private let state = Mutex(State.trying)

    public init() {}

    /// - Returns: false if the login is being stored already.
    @discardableResult
    public func cancel() -> Bool {
        state.withLock { state in
            if state == .trying { state = .cancelled }
            return state == .cancelled
        }
    }

    /// Logs in on a thread of its own, and stores the account.
    /// - Throws: `CancellationError` after ``cancel()``; else what `AccountDirectory.logIn` throws.
    public func run(_ form: LoginForm.Checked, in directory: AccountDirectory) async throws {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [self] in
                continuation.resume(with: Result { try logIn(form, in: directory) })
            }
        }
    }

    private func logIn(_ form: LoginForm.Checked, in directory: AccountDirectory) throws {
        let database = try directory.open(.machine, role: .share, now: Clock.system.now())
        let login = try Login.attempt(form.jid, password: form.password, server: form.server)
        let isWanted = state.withLock { state in
            if state == .trying { state = .storing }
            return state == .storing
        }
        guard isWanted else { throw CancellationError() }
        let resource = form.jid.resource ?? "kalij." + String(UInt32.random(in: .min ... .max), radix: 36)
        try directory.ringing {
            try AccountTable(database).store(jid: form.jid, server: form.server, login: login, resource: resource)
        }
    }
}
