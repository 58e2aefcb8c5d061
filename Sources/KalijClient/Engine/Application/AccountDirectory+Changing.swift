import KalijAddress
import KalijCore
import KalijFeatures

// Changes of an account whose outcome the driver, in this process or another one, determines. Without a driver each function returns
// at once, and the next engine makes the change.
extension AccountDirectory {
    /// Changes the password of an account at its server (XEP-0077 section 3.3), and waits for the outcome. The account logs in with
    /// the password that is valid, whatever happens in between.
    /// - Parameters:
    ///   - jid: the bare address of the account.
    ///   - password: the new password.
    ///   - time: how long to wait for the outcome.
    /// - Returns: the outcome; `.unknown` if the server has not responded in time: a later login determines it.
    /// - Throws: `PasswordError`, `DirectoryError`, `StoreError`: nothing was changed. `CancellationError`: the change continues.
    public func changePassword(
        of jid: JID, to password: String, within time: Duration = .seconds(60)
    ) async throws -> AccountTable.ChangeOutcome {
        try await change(jid, within: time) { try $0.changePassword(to: password) }
    }

    /// Requests that the server remove an account with all that it stores (XEP-0077 section 3.2), waits for the outcome, and then
    /// removes the account here, too.
    /// - Parameters:
    ///   - jid: the bare address of the account.
    ///   - time: how long to wait for the outcome.
    /// - Returns: the outcome; `.unknown` if the server has not responded in time: a later login determines it.
    /// - Throws: `DirectoryError`, `StoreError`: nothing was changed. `CancellationError`: the removal continues.
    public func unregister(
        _ jid: JID, within time: Duration = .seconds(60)
    ) async throws -> AccountTable.ChangeOutcome {
        let outcome = try await change(jid, within: time) { try $0.unregister() }
        if outcome == .done { try await logOut(jid, removing: true) }
        return outcome
    }

    /// Ends the session of an account, and deletes its credentials.
    /// - Parameters:
    ///   - jid: the bare address of the account.
    ///   - removing: whether to delete all stored data of the account, too.
    ///   - time: how long to wait for the driver.
    /// - Returns: whether it was done in time.
    /// - Throws: `StoreError`: nothing was changed. `CancellationError`: the logout continues.
    @discardableResult
    public func logOut(
        _ jid: JID, removing: Bool, within time: Duration = .seconds(15)
    ) async throws -> Bool {
        let state = { @Sendable [self] in
            try AccountTable(read()).all().first { $0.jid == jid.bare }?.state
        }
        let isDone = { @Sendable () throws -> Bool? in
            switch try state() {
            case nil, .out?: true
            default: nil
            }
        }
        return try await outcome(within: time, of: isDone) {
            let table = AccountTable(try open(.machine, role: .share, now: Clock.system.now()))
            guard let account = try table.all().first(where: { $0.jid == jid.bare }) else { return }
            _ = try ringing { try table.requestLogout(account, removing: removing) }
        } ?? false
    }

    private func change(
        _ jid: JID, within time: Duration, _ request: (Step) throws -> Void
    ) async throws -> AccountTable.ChangeOutcome {
        let account = try AccountTable(read()).account(jid, in: self)
        let isKnown = { @Sendable [self] () throws -> AccountTable.ChangeOutcome? in
            let outcome = try AccountTable(read()).lastChange(of: account)
            return outcome == .unknown ? nil : outcome
        }
        return try await outcome(within: time, of: isKnown) { try accept(for: account.jid, request) } ?? .unknown
    }

    /// Commits a change, and waits until `check` has a value.
    /// - Returns: the value; nil if there is none in time, or no process drives.
    private func outcome<Value: Sendable>(
        within time: Duration, of check: @escaping @Sendable () throws -> Value?, after commit: () throws -> Void
    ) async throws -> Value? {
        // Subscribed before the commit, so that no change is missed in between.
        let changes = DirectoryChanges(self)
        try commit()
        guard let changes else { return try check() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                for await news in changes where news.mayConcernAccounts {
                    if let value = try check() { return value }
                }
                try Task.checkCancellation()
                return try check()
            }
            group.addTask {
                try await Task.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

extension DirectoryNews {
    fileprivate var mayConcernAccounts: Bool {
        switch self {
        case .everything: true
        case .changed(let change): change.kind == .account
        }
    }
}
