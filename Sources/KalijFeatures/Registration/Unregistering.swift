import KalijHandlers
import KalijSteps
import KalijXML

/// The server's answer to the request to remove the account (XEP-0077 section 3.2), or none.
package struct UnregisterResponse: InvalidatableHandler {
    package static let name = "registration.removal"

    package func call(_ reply: IQReply, in step: Step) throws {
        let accounts = AccountTable(step.database)
        switch reply {
        case .result: try accounts.unregistered(step.account.id, .removing)
        case .error(let error, _): try accounts.keptRegistered(step.account.id, because: error.description)
        case .timeout where step.isForUnsent:
            try accounts.keptRegistered(step.account.id, because: "your server was not reached in time")
        case .timeout: break
        }
    }

    package func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

extension Step {
    /// Asks the server to remove the account, with everything that the server stores. Then the account is to be removed here
    /// (``AccountTable/requestLogout(_:removing:)``). If the answer is lost, the next login shows the outcome
    /// (``AccountTable/lastChange(of:)``).
    /// - Throws: `StoreError`
    public func unregister() throws {
        // An earlier request stays in the queue: the server perhaps counts the request, and acknowledges by the count.
        try Requests(step: self).forget(UnregisterResponse.name)
        try AccountTable(database).beginUnregistering(account.id)
        let remove = Element("remove", xmlns: RegistrationFeature.namespace)
        let query = Element("query", xmlns: RegistrationFeature.namespace, children: [remove])
        // The account's own server, which answers for the account (XEP-0077 section 3.2).
        try send(.request(.set, query), then: UnregisterResponse(), within: .seconds(60))
    }

    /// A login has succeeded: the server has not removed the account, unless the request is still on its way.
    package func accountIsThere() throws {
        guard try !Requests(step: self).isWaiting([UnregisterResponse.name]) else { return }
        try AccountTable(database).keptRegistered(account.id, because: "the server has not removed the account")
    }
}
