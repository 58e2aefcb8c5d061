import KalijFeatures
import KalijCore
import KalijStream

/// Steps that settle changes of the account at its server.
extension SessionSteps {
    /// The credentials with which the account can log in.
    func logins() throws -> AccountTable.Logins {
        try AccountTable(runner.database).logins(of: account.id) ?? AccountTable.Logins(stored: account.credentials)
    }

    /// The server has accepted a login.
    /// - Returns: nil if nothing has to be recorded: in most cases the stored keys are those of the login.
    func loggedIn(withNewPassword isNew: Bool, _ login: SuccessfulAuthentication) throws -> Step.Effects? {
        let logins = try logins()
        let newKeys = if case .password = logins.stored { login.keys } else { isNew ? login.keys : nil }
        let arePinsNew = try AccountTable(runner.database).pins(of: account.id) != login.pins
        guard logins.new != nil || logins.isUnregistering || newKeys != nil || arePinsNew || login.usedToken != nil
        else {
            return nil
        }
        return try runner.run("login", for: account) { step in
            let accounts = AccountTable(step.database)
            try step.loggedIn(withNewPassword: isNew)
            if logins.isUnregistering { try step.accountIsThere() }
            if let newKeys { try accounts.store(newKeys, of: account.id) }
            try accounts.set(login.pins, of: account.id)
            if let token = login.usedToken { try LoginTokens(step.database, of: account.id).worked(token) }
        }
    }

    /// The server has refused the login of an account whose removal was requested. The server has most likely removed the
    /// account; the messages are kept, because the removal was not confirmed.
    func unregistered() throws {
        _ = try runner.run("unregistered", for: account) { step in
            guard try !Requests(step: step).isUnsent(UnregisterResponse.name) else { return }
            try AccountTable(step.database).unregistered(account.id, .leaving)
        }
    }
}
