import KalijStore
import KalijXML

@testable import KalijCore
@testable import KalijFeatures

extension Violation.Promise {
    /// The blocklist (XEP-0191).
    static let blocking = Violation.Promise("blocking")
}

/// The account's blocklist (XEP-0191). Another device blocks a contact, whose messages slip through all the same.
final class SimulatedBlocking: SimulatedFeature {
    private static let namespace = "urn:xmpp:blocking"
    /// A contact that may know that the account is online, and is blocked.
    static let blocked = "paris@example.net"

    unowned let server: SimulatedServer
    let announced = [namespace]
    private var list: Set<String> = []
    /// The sessions that have asked for the list, and so get the changes (section 3.2).
    private var interested: [ServerSession] = []
    /// Whether the client knows that the contact is blocked.
    private var isKnown = false
    private var messages = 0

    init(_ server: SimulatedServer) { self.server = server }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        if request.child("blocklist", Self.namespace) != nil {
            interested.append(session)
            return .result("<blocklist xmlns='\(Self.namespace)'>\(Self.items(list.sorted()))</blocklist>")
        }
        if let block = request.child("block", Self.namespace) {
            let new = block.children("item").compactMap { $0["jid"] }
            list.formUnion(new)
            push("block", new)
            return .result("")
        }
        guard let unblock = request.child("unblock", Self.namespace) else { return nil }
        let old = unblock.children("item").compactMap { $0["jid"] }
        list.subtract(old)
        push("unblock", old)
        return .result("")
    }

    private static func items(_ jids: [String]) -> String { jids.map { "<item jid='\($0)'/>" }.joined() }

    private func push(_ change: String, _ jids: [String], acknowledged: (() -> Void)? = nil) {
        for session in server.sessions where interested.contains(where: { $0 === session }) {
            server.send(
                """
                <iq type='set' id='\(server.newID("push"))'><\(change) xmlns='\(Self.namespace)'>\(Self.items(jids))\
                </\(change)></iq>
                """, to: session, acknowledged: acknowledged)
        }
    }

    /// With every other message of the client's, another device blocks the contact, or the contact writes.
    func sent(_ message: Element, by session: ServerSession) {
        messages += 1
        if list.insert(Self.blocked).inserted {
            push("block", [Self.blocked]) { [weak self] in self?.isKnown = true }
        } else if isKnown, messages % 4 == 0 {
            server.receive("blocked-\(messages)", from: Self.blocked + "/tent")
        }
    }

    /// The rows are the server's, if the server was asked. An heir to a session may have taken a push away.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        let rows = try Set(database.prepare("SELECT jid FROM blocked").all { $0.text() })
        var violations: [Violation] = []
        let isTold = try database.prepare("SELECT offered FROM blocklist").first { $0.bool("offered") } ?? false
        if isTold, !server.profile.hasSeveralHeirs, rows != list {
            violations.append(Violation(.blocking, "blocked are \(list.sorted()), and stored are \(rows.sorted())"))
        }
        for text in simulation.record.shown.keys where text.hasPrefix("blocked-") {
            violations.append(Violation(.blocking, "\(text) was notified, and its sender is blocked"))
        }
        let outcomes = Dictionary(
            uniqueKeysWithValues: try database.prepare("SELECT id, problem FROM intent").all {
                ($0.text("id"), $0.optionalText("problem"))
            })
        for id in simulation.record.blockings.sorted() where (outcomes[id] ?? nil) == nil {
            violations.append(Violation(.blocking, "\(id) was accepted and has no outcome"))
        }
        return violations
    }
}
