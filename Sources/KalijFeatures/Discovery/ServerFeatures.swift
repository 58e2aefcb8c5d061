import KalijCore
import KalijAddress
import KalijHandlers
import KalijStream
import KalijXML

/// The features of the server and of the account. They are queried once in each session (XEP-0030), for all features of the client.
struct ServerFeatures {
    package let step: Step

    /// Sends the queries in a new session.
    package func sendQueries() throws {
        try queryServer(attempt: 1)
        try queryAccount()
    }

    /// The previous session is lost: its queries are void.
    package func sessionLost() throws {
        for name in [ServerInfoResponse.name, AccountInfoResponse.name] {
            try Requests(step: step).forget(name, unqueueing: true)
        }
    }

    /// The session is resumed: repeats an open query, because the response may have been lost with the previous connection.
    func resendQuery() throws {
        guard try isAwaited else { return }
        try Requests(step: step).forget(AccountInfoResponse.name, unqueueing: true)
        try queryAccount()
    }

    /// Whether the response about the account is outstanding.
    var isAwaited: Bool { get throws { try Requests(step: step).isWaiting([AccountInfoResponse.name]) } }

    func queryServer(attempt: Int) throws {
        guard attempt <= EngineLimits.serverAttempts, let server = try? JID(step.account.jid.domain) else { return }
        try step.send(
            .discovery(DiscoveryInfo.namespace, of: server), then: ServerInfoResponse(attempt: attempt),
            within: EngineLimits.serverTimeout)
    }

    /// Queries for the account's features. Presence and held messages wait for the response.
    private func queryAccount() throws {
        try step.send(
            .request(.get, Element("query", xmlns: DiscoveryInfo.namespace)), then: AccountInfoResponse(),
            within: EngineLimits.archiveTimeout)
    }

    /// Handles the server's features.
    package func server(_ info: DiscoveryInfo) throws {
        guard let server = try? JID(step.account.jid.domain) else { return }
        try step.discovery.store(info, by: server)
        try notifyObservers(.known(info), .server)
    }

    package func notifyObservers(_ answer: ServerAnswer, _ entity: ServerEntity) throws {
        for observer in step.hooks.sessionObservers { try observer.didDiscover(answer, of: entity, in: step) }
    }
}

/// The response to the query for the server's features. The name is frozen: released databases contain it.
struct ServerInfoResponse: Handler {
    package static let name = "carbons.server"
    package let attempt: Int

    func call(_ reply: IQReply, in step: Step) throws {
        if let info = reply.discoveryInfo { return try ServerFeatures(step: step).server(info) }
        if case .timeout = reply { try ServerFeatures(step: step).queryServer(attempt: attempt + 1) }
    }
}

/// The response to the query for the account's features, or its timeout. The name is frozen: released databases contain it.
struct AccountInfoResponse: Handler {
    package static let name = "catch-up.features"

    func call(_ reply: IQReply, in step: Step) throws {
        let answer: ServerAnswer =
            switch reply {
            case .result: reply.discoveryInfo.map { .known($0) } ?? .refused
            case .error: .refused
            case .timeout: .none("the server does not answer")
            }
        try ServerFeatures(step: step).notifyObservers(answer, .account)
    }
}
