import KalijStore
import KalijXML

extension Violation.Promise {
    /// The server pushes for each session in which rooms are entered.
    static let push = Violation.Promise("push")
}

/// Push notifications (XEP-0357). A server pushes what rooms say only from the session that has asked for pushes (measured).
final class SimulatedPush: SimulatedFeature {
    private static let namespace = "urn:xmpp:push:0"

    unowned let server: SimulatedServer
    /// The sessions that have asked for pushes.
    private var enabled: Set<String> = []

    init(_ server: SimulatedServer) { self.server = server }

    var announced: [String] { [Self.namespace] }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        if request.child("enable", Self.namespace) != nil {
            enabled.insert(session.id)
            return .result("")
        }
        guard request.child("disable", Self.namespace) != nil else { return nil }
        enabled.remove(session.id)
        return .result("")
    }

    /// A client that has once asked for pushes asks in each session, before anything can be pushed.
    func present(_ presence: Element, of session: ServerSession) {
        guard presence["to"] == nil, presence["type"] == nil, !enabled.isEmpty, !enabled.contains(session.id) else {
            return
        }
        server.fault("presence before push is enabled")
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        guard simulation.record.hasPush else { return [] }
        let deaf = server.sessions.filter { $0.isAvailable && !enabled.contains($0.id) }
        return deaf.map { Violation(.push, "the session \($0.id) has not asked for pushes") }
    }
}
