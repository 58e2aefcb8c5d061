import KalijStore
import KalijXML

extension Violation.Promise {
    /// The list of rooms has what every device has written.
    static let bookmarks = Violation.Promise("bookmarks")
}

/// The list of rooms that the account's devices share: a node with an item for each room (XEP-0402), or private XML (XEP-0049),
/// as the server does.
final class SimulatedBookmarks: SimulatedFeature {
    private static let native = "urn:xmpp:bookmarks:1"
    private static let former = "storage:bookmarks"
    private static let privateStorage = "jabber:iq:private"

    unowned let server: SimulatedServer
    /// The children of the former list.
    private var list: [String] = []
    /// What a session has been shown of the former list.
    private var shown: [String: [String]] = [:]
    /// The items that another device has written.
    private var written: [String: String] = [:]

    init(_ server: SimulatedServer) { self.server = server }

    private var isNative: Bool { server.profile.hasNodes && !server.profile.knowsFewOptions }
    private var nodes: SimulatedNodes { server.feature(SimulatedNodes.self) }

    var announced: [String] { isNative ? [Self.native + "#compat"] : [] }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard !isNative, let storage = request.child("query", Self.privateStorage)?.child("storage", Self.former) else {
            return nil
        }
        if request["type"] == "get" {
            shown[session.id] = list
            return .result(
                "<query xmlns='\(Self.privateStorage)'><storage xmlns='\(Self.former)'>\(list.joined())</storage></query>"
            )
        }
        let new = storage.children.map { $0.xml() }
        for child in shown[session.id] ?? [] where !child.contains(SimulatedGarden.address) && !new.contains(child) {
            server.fault("the list of rooms was overwritten: \(child) is gone")
        }
        list = new
        shown[session.id] = list
        return .result("")
    }

    /// Another device writes a room, with something that only its software knows.
    func write(_ number: Int) {
        let room = "other-\(number)@rooms.example.net"
        let extensions = "<extensions><known xmlns='urn:example:device'>\(number)</known></extensions>"
        if isNative {
            let item = "<conference xmlns='\(Self.native)' name='Other' autojoin='false'>\(extensions)</conference>"
            written[room] = item
            return nodes.publish(item, as: room, to: Self.native) {}
        }
        let child = """
            <conference xmlns='\(Self.former)' jid='\(room)' name='Other' autojoin='false'>\(extensions)</conference>
            """
        // As the client's software writes XML: the texts are compared.
        guard let element = try? Element.parse(child) else { return }
        list.append(element.xml())
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        guard simulation.record.hasJoined else { return [] }
        let own =
            isNative
            ? nodes.node(Self.native)?.content(of: SimulatedGarden.address)
            : list.first { $0.contains(SimulatedGarden.address) }
        guard own?.contains("autojoin='true'") ?? false else {
            return [Violation(.bookmarks, "the room is not in the list: \(own ?? "nothing")")]
        }
        // A node that another device has made may keep a single item, and lose others before this client configures it.
        guard isNative, server.profile.mostItemsOfMadeNodes == nil else { return [] }
        return written.filter { nodes.node(Self.native)?.content(of: $0.key) != $0.value }
            .map { Violation(.bookmarks, "\($0.key) is lost or changed") }
    }
}
