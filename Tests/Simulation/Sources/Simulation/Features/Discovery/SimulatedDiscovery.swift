import KalijXML

/// The server tells the features of the server and of the account (XEP-0030).
final class SimulatedDiscovery: SimulatedFeature {
    unowned let server: SimulatedServer

    init(_ server: SimulatedServer) { self.server = server }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard request.child("query", "http://jabber.org/protocol/disco#info") != nil else { return nil }
        let features = server.features.flatMap { $0.announced }.map { "<feature var='\($0)'/>" }
        let identity = server.omemo.keepsKeys ? "<identity category='pubsub' type='pep'/>" : ""
        return .result("<query xmlns='http://jabber.org/protocol/disco#info'>\(identity)\(features.joined())</query>")
    }
}
