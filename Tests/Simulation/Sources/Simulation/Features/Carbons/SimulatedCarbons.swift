import KalijXML

/// Copies of messages from other resources of the account (XEP-0280).
final class SimulatedCarbons: SimulatedFeature {
    unowned let server: SimulatedServer
    let announced = ["urn:xmpp:carbons:2"]
    /// The ids of the sessions with copies enabled.
    private var wanting: Set<String> = []

    init(_ server: SimulatedServer) { self.server = server }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard request.child("enable", "urn:xmpp:carbons:2") != nil else { return nil }
        enable(session)
        return .result("")
    }

    func enable(_ session: ServerSession) { wanting.insert(session.id) }

    func ended(_ session: ServerSession, _ sent: [ServerSession.Sent]) { wanting.remove(session.id) }

    /// Another resource of the account has sent `stanza`.
    /// - Parameters:
    ///   - message: the number in the archive, if the stanza is a message of the archive's.
    ///   - acknowledged: called when a client has acknowledged the copy.
    func copy(_ stanza: String, message: Int? = nil, acknowledged: (() -> Void)? = nil) {
        for session in server.sessions where wanting.contains(session.id) {
            server.send(
                """
                <message from='\(server.account)' to='\(server.address(session))' type='chat'><sent \
                xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\(server.inClient(stanza))</forwarded></sent>\
                </message>
                """, to: session, message: message, acknowledged: acknowledged)
        }
    }
}
