import KalijStore
import KalijXML

/// The answers of a room whose archive is forged throughout.
final class HostileMUC: SimulatedFeature {
    unowned let server: SimulatedServer

    init(_ server: SimulatedServer) { self.server = server }

    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool {
        guard recipient == HostileRoom.address else { return false }
        let address = server.address(session)
        func send(_ payload: String) {
            server.send(
                """
                <iq type='result' id='\(request["id"] ?? "")' from='\(HostileRoom.address)' to='\(address)'>\(payload)</iq>
                """, to: session)
        }
        guard let query = request.child("query", "urn:xmpp:mam:2") else {
            send("<query xmlns='http://jabber.org/protocol/disco#info'><feature var='urn:xmpp:mam:2'/></query>")
            return true
        }
        server.world.counts.forged += 1
        let readings = server.feature(SimulatedNotifications.self).readings
        let shown = server.archive.messages.last {
            !$0.from.hasPrefix(server.account) && $0.body != nil && !readings.contains($0.number)
        }
        let forged = HostileRoom(account: server.account, known: server.messages.lastTaken, shown: shown).messages
        for (index, message) in forged.enumerated() {
            server.send(
                """
                <message from='\(HostileRoom.address)' to='\(address)'><result xmlns='urn:xmpp:mam:2' \
                queryid='\(query["queryid"] ?? "")' id='r\(index)'><forwarded xmlns='urn:xmpp:forward:0'>\(message)</forwarded>\
                </result></message>
                """, to: session)
        }
        send(
            "<fin xmlns='urn:xmpp:mam:2' complete='true'><set xmlns='http://jabber.org/protocol/rsm'>"
                + "<first>r0</first><last>r\(forged.count - 1)</last></set></fin>")
        return true
    }

    /// The room's forgeries change nothing outside the room.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        try StoredMessage.all(in: database, server).compactMap { row in
            if row.body?.hasPrefix("forged-") ?? false {
                return Violation(.promise1, "\(row.body ?? "-") is there, which a room has forged")
            }
            guard row.direction == "out", row.state == "failed",
                ![SimulatedMessages.nobody, SimulatedOMEMO.contact].contains(row.recipient),
                // What the receipt after an error does is judged there: it means no message that the user has forgotten.
                !server.messages.returned.contains(row.id)
            else { return nil }
            return Violation(.promise2, "\(row.body ?? "-") has failed, and only a room says so")
        }
    }
}
