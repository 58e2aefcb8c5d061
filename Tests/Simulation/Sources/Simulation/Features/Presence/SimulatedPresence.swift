import KalijXML

/// Resources that announce themselves, to get messages (RFC 6121 section 4.2).
final class SimulatedPresence: SimulatedFeature {
    unowned let server: SimulatedServer

    init(_ server: SimulatedServer) { self.server = server }

    func present(_ presence: Element, of session: ServerSession) {
        guard presence["type"] == nil, presence["to"] == nil, !session.isAvailable else { return }
        session.isAvailable = true
        let address = server.address(session)
        server.send("<presence from='\(address)' to='\(address)'/>", to: session)
        server.messages.becameAvailable(session)
    }
}
