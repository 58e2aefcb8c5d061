import KalijFeatures
import KalijSteps
import KalijStream

/// Steps that settle changes of the account at its server.
extension SessionSteps {
    /// What the account can log in with.
    func logins() throws -> AccountTable.Logins {
        try AccountTable(runner.database).logins(of: account.id) ?? AccountTable.Logins(stored: account.credentials)
    }

    /// The server has accepted a login.
    /// - Returns: nil if nothing has to be noted: most often the stored keys are the keys of the login.
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

    /// The server refuses the login of an account that the server was asked to remove. The server has most likely removed the account;
    /// the messages stay, because nobody has said so.
    func unregistered() throws {
        _ = try runner.run("unregistered", for: account) { step in
            guard try !Requests(step: step).isUnsent(UnregisterResponse.name) else { return }
            try AccountTable(step.database).unregistered(account.id, .leaving)
        }
    }
}
