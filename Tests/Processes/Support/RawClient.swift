import Foundation
import KalijLab
import Testing

/// A client or a component that sends whatever it is told, and keeps whatever comes (`Tests/Programs/raw.py`).
final class RawClient {
    private let running: Running
    private var questions = 0

    /// A client of `user`; with a port a component instead, whose domain `user` is.
    init(_ user: String, _ world: World, component port: Int? = nil) throws {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/raw.py").path
        let arguments =
            port.map { [user, "\($0)"] }
            ?? ["\(user)@localhost", "\(world.server.port)", "--ca", world.server.certificateAuthority]
        var launch = world.laboratory.launch("/usr/bin/python3", [program] + arguments)
        launch.environment["PEER_PASSWORD"] = "secret"
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        running = try Running(launch)
    }

    func ready() async throws {
        let isReady = try await until { try running.output.contains("\"ready\"") }
        let said = try running.errors
        try #require(isReady, "\(said)")
    }

    /// Sends a stanza, which has no line breaks.
    func send(_ stanza: String) throws { try running.process.write(line: stanza) }

    struct Stanza {
        let name: String
        let id: String
        let type: String
        let xml: String
        /// Of the whole stanza.
        let bytes: Int
    }

    /// Messages and answers so far.
    var stanzas: [Stanza] {
        get throws {
            try running.output.split(separator: "\n").compactMap { line in
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                guard let object, let xml = object["xml"] as? String else { return nil }
                return Stanza(
                    name: object["name"] as? String ?? "", id: object["id"] as? String ?? "",
                    type: object["type"] as? String ?? "", xml: xml, bytes: object["bytes"] as? Int ?? 0)
            }
        }
    }

    /// Asks, and waits for the answer.
    func ask(_ type: String, _ content: String, to: String? = nil, from: String? = nil)
        async throws -> Stanza
    {
        questions += 1
        let id = "raw-\(questions)"
        let addresses = (to.map { " to='\($0)'" } ?? "") + (from.map { " from='\($0)'" } ?? "")
        try send("<iq type='\(type)' id='\(id)'\(addresses)>\(content)</iq>")
        var answer: Stanza?
        _ = try await until(every: 50) {
            answer = try stanzas.first { $0.id == id }
            return answer != nil
        }
        let state = try "\(running.isRunning), \(running.lines.last ?? ""), \(running.errors)"
        return try #require(answer, "no answer to \(content.prefix(200)): \(state)")
    }

    /// Returns once the server has taken everything before.
    func settle() async throws { _ = try await ask("get", "<ping xmlns='urn:xmpp:ping'/>", to: "localhost") }

    /// Publishes an item of the own address, which everybody may read.
    func publish(_ content: String, as item: String = "current", to node: String) async throws -> Stanza {
        let form = """
            <publish-options><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE' type='hidden'>\
            <value>http://jabber.org/protocol/pubsub#publish-options</value></field>\
            <field var='pubsub#access_model'><value>open</value></field></x></publish-options>
            """
        return try await ask(
            "set",
            """
            <pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='\(node)'><item id='\(item)'>\(content)</item>\
            </publish>\(form)</pubsub>
            """)
    }

    func quit() { try? running.process.write(line: "quit") }
}
