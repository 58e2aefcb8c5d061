import KalijHandlers
import KalijCore
import KalijXML

/// Handles the server's response to the request to remove the account (XEP-0077 section 3.2).
package struct UnregisterResponse: InvalidatableHandler {
    package static let name = "registration.removal"

    package func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result: try step.unregistered(.removing)
        case .error(let error, _): try step.keptRegistered(because: error.description)
        case .timeout where step.isForUnsent: try step.keptRegistered(because: "your server was not reached in time")
        case .timeout: break
        }
    }

    package func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

extension Step {
    /// Requests the server to remove the account, with all stored data. Then the account is to be removed here
    /// (``AccountTable/requestLogout(_:removing:)``). If the response is lost, the next login shows the outcome
    /// (``AccountTable/lastChange(of:)``).
    /// - Throws: `StoreError`
    public func unregister() throws {
        // An earlier request remains in the queue: the server may count it, and acknowledges by the count.
        try Requests(step: self).forget(UnregisterResponse.name)
        try AccountTable(database).beginUnregistering(account.id)
        let remove = Element("remove", xmlns: RegistrationFeature.namespace)
        let query = Element("query", xmlns: RegistrationFeature.namespace, children: [remove])
        // Addressed to the account's own server, which responds on behalf of the account (XEP-0077 section 3.2).
        try send(.request(.set, query), then: UnregisterResponse(), within: .seconds(60))
    }

    /// Handles a successful login: the server has not removed the account, unless the request is still pending.
    package func accountIsThere() throws {
        guard try !Requests(step: self).isWaiting([UnregisterResponse.name]) else { return }
        try keptRegistered(because: "the server has not removed the account")
    }

    /// The server has removed the account.
    /// - Parameter state: what becomes of the account here.
    func unregistered(_ state: Account.State) throws {
        try AccountTable(database).unregistered(account.id, state)
        emit(AccountChanged(problem: nil))
    }

    fileprivate func keptRegistered(because problem: String) throws {
        try AccountTable(database).keptRegistered(account.id, because: problem)
        emit(AccountChanged(problem: problem))
    }
}
