import KalijXML

/// The server answers pings (XEP-0199).
final class SimulatedPing: SimulatedFeature {
    let announced = ["urn:xmpp:ping"]

    init(_ server: SimulatedServer) {}

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        request.child("ping", "urn:xmpp:ping") == nil ? nil : .result("")
    }
}
