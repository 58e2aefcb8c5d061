import KalijStore
import KalijXML

@testable import KalijCore
@testable import KalijFeatures

extension Violation.Promise {
    /// The promise of files: a file accepted once arrives once, and its address is announced only when the server has the whole file.
    static let files = Violation.Promise("files")
}

/// The server's upload service (XEP-0363), and the judgement of files.
final class SimulatedFiles: SimulatedFeature {
    unowned let server: SimulatedServer
    private(set) lazy var http = SimulatedHTTP(server.world, showsTorsos: server.world.seed / 4 % 2 == 1)
    private var lastSlot = 0
    /// How often each file was announced, by the id of its message.
    private var announced: [String: Int] = [:]
    private var faults: [String] = []

    static let address = "https://files.example.net/"
    private static let namespace = "urn:xmpp:http:upload:0"

    init(_ server: SimulatedServer) { self.server = server }

    private var service: String { "upload.\(server.domain)" }

    /// Whether a message of the client's shares a file.
    static func isFile(_ message: Element) -> Bool { message.child("file-sharing", "urn:xmpp:sfs:0") != nil }

    // MARK: The server

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        let items = "http://jabber.org/protocol/disco#items"
        guard request.child("query", items) != nil else { return nil }
        return .result("<query xmlns='\(items)'><item jid='\(service)'/></query>")
    }

    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool {
        guard recipient == service, let payload = request.children.first else { return false }
        let (type, content) = answer(payload)
        let answer = """
            <iq type='\(type)' id='\(request["id"] ?? "")' from='\(service)' \
            to='\(server.address(session))'>\(content)</iq>
            """
        let resource = session.resource
        server.world.after(server.world.random.pick(1000...300_000)) { [weak self] in
            self?.server.route(answer, to: resource)
        }
        return true
    }

    private func answer(_ payload: Element) -> (type: String, content: String) {
        if payload.name == "query" {
            return (
                "result",
                """
                <query xmlns='http://jabber.org/protocol/disco#info'><identity category='store' type='file'/>\
                <feature var='\(Self.namespace)'/><x xmlns='jabber:x:data' type='result'>\
                <field var='FORM_TYPE' type='hidden'><value>\(Self.namespace)</value></field>\
                <field var='max-file-size'><value>10000000</value></field></x></query>
                """
            )
        }
        if !http.isCalm, server.world.random.chance(3) {
            return (
                "error",
                "<error type='wait'><internal-server-error xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"
            )
        }
        let (file, size) = (payload["filename"] ?? "", Int64(payload["size"] ?? "") ?? 0)
        judgeSlot(for: file)
        lastSlot += 1
        let path = "\(lastSlot)/\(file)"
        http.add(path, file: file, size: size)
        let url = Self.address + path
        return ("result", "<slot xmlns='\(Self.namespace)'><put url='\(url)'/><get url='\(url)'/></slot>")
    }

    func sent(_ message: Element, by session: ServerSession) {
        guard Self.isFile(message), let id = message["id"],
            let url = message.child("body", "jabber:client")?.text, url.hasPrefix(Self.address)
        else { return }
        announced[id, default: 0] += 1
        let slot = http.slots[String(url.dropFirst(Self.address.count))]
        if !(slot?.isWhole ?? false) { faults.append("\(id) was announced, and the server has not the whole file") }
        server.messages.file(message, body: url, of: session)
    }

    // MARK: The judge

    /// A file is sent again only if the server has said that the file is not there.
    private func judgeSlot(for file: String) {
        guard let slot = http.slots(of: file).first(where: { $0.isWhole && $0.misses == 0 }) else { return }
        faults.append("\(slot.file) was sent again, and nobody has looked whether the server has it")
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        var texts = faults
        let rows = try database.prepare(
            "SELECT origin_id, state, settled FROM message WHERE direction = 'out' AND origin_id LIKE 'file-%'"
        ).all { (id: $0.text("origin_id"), state: $0.optionalText("state") ?? "", isSettled: $0.bool("settled")) }
        let waiting = Set(try database.prepare("SELECT message_id FROM upload").all { $0.text("message_id") })
        for id in simulation.record.files.sorted() where !rows.contains(where: { $0.id == id }) {
            texts.append("\(id) was accepted, and \(waiting.contains(id) ? "still waits" : "is nowhere")")
        }
        for row in rows {
            let count = announced[row.id] ?? 0
            let isUnknown =
                !row.isSettled
                && SimulatedMessages.mayBeUnknown(
                    isLate: simulation.record.acceptedLate.contains(row.id), in: simulation)
            if row.state == "failed" { texts.append("\(row.id) has failed") }
            if count > 1 || count == 0 && !isUnknown { texts.append("\(row.id) reached the server \(count) times") }
            if ["queued", "sent"].contains(row.state), row.isSettled {
                texts.append("\(row.id) is still \(row.state)")
            }
        }
        return texts.map { Violation(.files, $0) }
    }
}
