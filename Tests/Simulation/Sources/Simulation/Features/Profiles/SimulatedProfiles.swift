import KalijStore
import KalijXML

extension Violation.Promise {
    /// The names that contacts publish (XEP-0172).
    static let profiles = Violation.Promise("profiles")
}

/// The correspondent's node with a nickname (XEP-0172 section 4.3): told to each session that becomes available, and when the name
/// changes. One of the correspondent's clients forges events of the node.
final class SimulatedProfiles: SimulatedFeature {
    private static let node = "http://jabber.org/protocol/nick"
    private static let forged = "Fool"

    unowned let server: SimulatedServer
    private var number = 0
    /// The last name that the client has acknowledged.
    private var acknowledged: String?
    /// How many messages the client has sent.
    private var messages = 0

    init(_ server: SimulatedServer) { self.server = server }

    private var name: String { "Romeo \(number)" }

    /// The correspondent has another name with every third message of the client's.
    func sent(_ message: Element, by session: ServerSession) {
        messages += 1
        guard messages % 3 == 0 else { return }
        number += 1
        for session in server.sessions where session.isAvailable { tell(session) }
    }

    func present(_ presence: Element, of session: ServerSession) {
        if presence["type"] == nil { tell(session) }
    }

    private func tell(_ session: ServerSession) {
        let name = name
        send(name, from: SimulatedContacts.subscriber, to: session) { [weak self] in self?.acknowledged = name }
        send(Self.forged, from: SimulatedContacts.subscriber + "/client", to: session) {}
    }

    private func send(
        _ name: String, from sender: String, to session: ServerSession, acknowledged: @escaping () -> Void
    ) {
        server.send(
            """
            <message from='\(sender)' type='headline'><event xmlns='http://jabber.org/protocol/pubsub#event'>\
            <items node='\(Self.node)'><item id='current'><nick xmlns='\(Self.node)'>\(name)</nick></item></items></event></message>
            """, to: session, acknowledged: acknowledged)
    }

    /// A name that was acknowledged is stored. An heir to a session may have taken an event away.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        let stored =
            try database.prepare("SELECT nick FROM profile WHERE jid = '\(SimulatedContacts.subscriber)'")
            .first { $0.optionalText() } ?? nil
        let forged = try database.prepare("SELECT count(*) FROM profile WHERE nick = '\(Self.forged)'").first {
            $0.integer()
        }
        if forged != 0 {
            return [Violation(.profiles, "an event of a client was taken for the person's")]
        }
        guard acknowledged == name, !server.profile.hasSeveralHeirs, stored != name else { return [] }
        return [Violation(.profiles, "the name is \(name), and stored is \(stored ?? "none")")]
    }
}
