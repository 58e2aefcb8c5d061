import KalijXML

/// The server tells the time (XEP-0202), depending on the profile.
final class SimulatedTime: SimulatedFeature {
    unowned let server: SimulatedServer

    init(_ server: SimulatedServer) { self.server = server }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard server.profile.tellsTime, request.child("time", "urn:xmpp:time") != nil else { return nil }
        let utc = Stamp.text(server.world.milliseconds)
        return .result("<time xmlns='urn:xmpp:time'><tzo>+00:00</tzo><utc>\(utc)</utc></time>")
    }
}
