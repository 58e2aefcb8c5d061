import KalijXML

/// The account's roster (RFC 6121 section 2): a single correspondent has a subscription to the account's presence.
final class SimulatedContacts: SimulatedFeature {
    /// The contact that may know that the account is online.
    static let subscriber = "romeo@example.net"

    init(_ server: SimulatedServer) {}

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard request.child("query", "jabber:iq:roster") != nil else { return nil }
        return .result(
            "<query xmlns='jabber:iq:roster'><item jid='\(Self.subscriber)' subscription='both'/></query>")
    }
}
