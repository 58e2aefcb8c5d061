import KalijStream
import Synchronization

extension AccountRegistration {
    /// Completes a server's form. Called again with a new form if the server has refused the response, or the form has expired: with
    /// the reason; nil at first. An error ends the registration.
    public typealias Answering = @Sendable (RegistrationForm, RegistrationError?) async throws -> NewAccount

    /// Registers an account and logs in to it, without blocking the caller's thread. A response that the server refuses is asked for
    /// again, over another connection with the same invitation.
    ///
    /// A server ends a connection on which nothing happens. If it then sends the same form again, the response is used for it; a form
    /// with another CAPTCHA is asked for again.
    /// - Throws: as ``attempt(_:)``; `CancellationError` as soon as the task is cancelled, which also cancels `answer`. After a
    ///   cancellation it is undetermined whether the account exists: another attempt with the same password finds out.
    public func perform(_ answer: @escaping Answering) async throws -> Outcome {
        var refusal: RegistrationError?
        var expired: Exchange.Answered?
        while true {
            let (exchange, reason, former) = (Exchange(), refusal, expired)
            do {
                return try await RunningLogin.perform { running in
                    try attempt(on: running, registered: exchange.registered) { form in
                        if let former, former.form == form { return exchange.answered(form, former.account) }
                        return exchange.answered(
                            form, try running.prompt { try await answer(form, former == nil ? reason : .expired) })
                    }
                }
            } catch let error as RegistrationError {
                guard error.isCorrectable, exchange.unregistered != nil else { throw error }
                (refusal, expired) = (error, nil)
            } catch LoginError.failed(let reason) {
                guard former == nil, let lost = exchange.unregistered else { throw LoginError.failed(reason) }
                expired = lost
            }
        }
    }

    /// How far an attempt has come.
    private final class Exchange: Sendable {
        struct Answered {
            let form: RegistrationForm
            let account: NewAccount
        }

        private let state = Mutex<(answered: Answered?, isRegistered: Bool)>((nil, false))

        func answered(_ form: RegistrationForm, _ account: NewAccount) -> NewAccount {
            state.withLock { $0.answered = Answered(form: form, account: account) }
            return account
        }

        func registered() { state.withLock { $0.isRegistered = true } }

        /// The response to the form; nil before it, and once the server has made the account.
        var unregistered: Answered? { state.withLock { $0.isRegistered ? nil : $0.answered } }
    }
}
