import KalijCore
import KalijStream

/// Steps that settle changes of the account at its server.
extension SessionSteps {
    /// The credentials with which the account can log in.
    package func logins() throws -> AccountTable.Logins {
        try AccountTable(runner.database).logins(of: account.id) ?? AccountTable.Logins(stored: account.credentials)
    }

    /// The server has accepted a login.
    /// - Returns: nil if nothing has to be recorded: in most cases the stored keys are those of the login.
    package func loggedIn(withNewPassword isNew: Bool, _ login: SuccessfulAuthentication) throws -> Step.Effects? {
        let logins = try logins()
        let newKeys = if case .password = logins.stored { login.keys } else { isNew ? login.keys : nil }
        let arePinsNew = try AccountTable(runner.database).pins(of: account.id) != login.pins
        guard logins.new != nil || logins.isUnregistering || newKeys != nil || arePinsNew || login.usedToken != nil
        else {
            return nil
        }
        return try runner.run("login", for: account) { step in
            let accounts = AccountTable(step.database)
            for observer in step.hooks.accountObservers { try observer.didLogIn(withNewPassword: isNew, in: step) }
            if let newKeys { try accounts.store(newKeys, of: account.id) }
            try accounts.set(login.pins, of: account.id)
            if let token = login.usedToken { try LoginTokens(step.database, of: account.id).worked(token) }
        }
    }

    /// The server has refused a login: an account whose removal was requested is gone.
    package func loginRefused() throws {
        guard try logins().isUnregistering else { return }
        _ = try runner.run("unregistered", for: account) { step in
            for observer in step.hooks.accountObservers { try observer.didRefuseLogin(in: step) }
        }
    }
}
