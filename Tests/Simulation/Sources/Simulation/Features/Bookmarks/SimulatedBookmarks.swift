import KalijStore
import KalijText
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
    private var written: [ExactText: String] = [:]
    /// The rooms with equivalent names that another device has written, two at a time.
    private var pairs: [[ExactText]] = []
    /// How often the client has written the former list.
    private var writes = 0

    init(_ server: SimulatedServer) { self.server = server }

    private var isNative: Bool { server.profile.hasNodes && !server.profile.knowsFewOptions }
    /// Whether the server takes nicknames, and lists rooms without them.
    private var dropsNicknames: Bool { !isNative && server.world.seed / 12 % 2 == 1 }
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
        writes += 1
        let new = storage.children.map { dropsNicknames ? Self.withoutNickname($0).xml() : $0.xml() }
        let kept = Set(new.map(\.exact))
        for child in shown[session.id] ?? []
        where !child.contains(SimulatedMUC.address) && !kept.contains(child.exact) {
            server.fault("the list of rooms was overwritten: \(child) is gone")
        }
        list = new
        shown[session.id] = list
        return .result("")
    }

    private static func withoutNickname(_ element: Element) -> Element {
        let copy = Element(element.name, xmlns: element.namespace)
        for name in ["jid", "name", "autojoin"] { copy[name] = element[name] }
        for child in element.children where child.name != "nick" { copy.add(child) }
        return copy
    }

    /// Another device writes a room, and two rooms whose names are equivalent and differ in bytes.
    func write(_ number: Int) {
        let rooms = ["other", "\u{FA70}", "\u{4E26}"].map { "\($0)-\(number)@rooms.example.net" }
        pairs.append(rooms.dropFirst().map(\.exact))
        for room in rooms { write(room, number) }
    }

    /// With something that only the other device's software knows.
    private func write(_ room: String, _ number: Int) {
        let extensions = "<extensions><known xmlns='urn:example:device'>\(number)</known></extensions>"
        if isNative {
            let item = "<conference xmlns='\(Self.native)' name='Other' autojoin='false'>\(extensions)</conference>"
            written[room.exact] = item
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
        return try checkPairs(database) + checkWrites() + checkList()
    }

    /// The client has both of two rooms in the list, or none if it has not read the list since.
    private func checkPairs(_ database: Database) throws -> [Violation] {
        let stored = try database.prepare("SELECT room FROM bookmark WHERE xml IS NOT NULL").all { $0.text().exact }
        let listed = try list.compactMap { try Element.parse($0)["jid"]?.exact }
        return pairs.compactMap { pair in
            let isListed = pair.allSatisfy {
                isNative ? nodes.node(Self.native)?.content(of: $0.text) != nil : listed.contains($0)
            }
            guard isListed, pair.count(where: stored.contains) == 1 else { return nil }
            return Violation(.bookmarks, "of two rooms with equivalent names one is not stored")
        }
    }

    /// A list that differs from what was written is written again with pauses that grow. After a power failure the pauses may begin anew.
    private func checkWrites() -> [Violation] {
        let most = 20 * (1 + server.login.powerFailures)
        return writes > most ? [Violation(.bookmarks, "the list was written \(writes) times")] : []
    }

    private func checkList() -> [Violation] {
        let own =
            isNative
            ? nodes.node(Self.native)?.content(of: SimulatedMUC.address)
            : list.first { $0.contains(SimulatedMUC.address) }
        guard own?.contains("autojoin='true'") ?? false else {
            return [Violation(.bookmarks, "the room is not in the list: \(own ?? "nothing")")]
        }
        // A node that another device has made may keep a single item, and lose others before this client configures it.
        guard isNative, server.profile.mostItemsOfMadeNodes == nil else { return [] }
        return written.filter { nodes.node(Self.native)?.content(of: $0.key.text) != $0.value }
            .map { Violation(.bookmarks, "\($0.key) is lost or changed") }
    }
}
