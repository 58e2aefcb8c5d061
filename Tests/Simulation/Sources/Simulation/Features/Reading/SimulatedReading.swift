import KalijAddress
import KalijStore
import KalijXML

@testable import KalijFeatures
@testable import KalijCore

/// The user and another device of the account read conversations: markers (XEP-0333) and displayed places (XEP-0490).
final class SimulatedReading: SimulatedFeature {
    static let markers = "urn:xmpp:chat-markers:0"
    static let node = "urn:xmpp:mds:displayed:0"

    unowned let server: SimulatedServer
    /// The client's markers, in the order of their first arrival.
    private(set) var markers: [Marker] = []
    /// The numbers of the messages that were the last read message of a reading, by conversation.
    private(set) var read: [String: Set<Int>] = [:]
    /// The numbers of the messages that the client knows to be read, by conversation: the latest.
    private(set) var known: [String: Int] = [:]
    /// The latest place of each conversation that the other device has published.
    private(set) var publishedElsewhere: [String: Int] = [:]

    struct Marker {
        /// The id of the marker's stanza.
        let id: String
        let contact: String
        /// The id of the displayed message.
        let message: String
        var count = 1
    }

    init(_ server: SimulatedServer) { self.server = server }

    func additions(to body: String, from sender: String) -> String { "<markable xmlns='\(Self.markers)'/>" }

    // MARK: Of the client

    func sent(_ message: Element, by session: ServerSession) {
        guard let displayed = message.child("displayed", Self.markers)?["id"], let id = message["id"],
            let contact = message["to"]
        else { return }
        server.messages.file(message, body: nil, of: session)
        if let index = markers.firstIndex(where: { $0.id == id }) {
            markers[index].count += 1
        } else {
            markers.append(Marker(id: id, contact: contact, message: displayed))
        }
    }

    // MARK: The last read message

    /// The messages to the account in the conversation with `contact`.
    func texts(of contact: String) -> [ArchivedMessage] {
        server.archive.messages.filter { $0.body != nil && $0.from.hasPrefix(contact + "/") && $0.to == server.account }
    }

    /// The last read message of a reading; nil if the contact has written nothing.
    func target(of reading: Reading) -> ArchivedMessage? {
        let texts = texts(of: Self.contact(of: reading))
        return texts.isEmpty ? nil : texts[max(0, texts.count - 1 - reading.age)]
    }

    static func contact(of reading: Reading) -> String {
        String(Simulation.contacts[reading.contact].prefix { $0 != "/" })
    }

    /// Somebody has read up to `message`.
    func note(_ message: ArchivedMessage, of contact: String) {
        read[contact, default: []].insert(message.number)
        server.feature(SimulatedNotifications.self).read(through: message, of: contact)
    }

    /// The client knows that `message` was read.
    func knows(_ message: ArchivedMessage, of contact: String) {
        known[contact] = max(known[contact] ?? 0, message.number)
    }

    // MARK: Of the other device

    func perform(_ reading: Reading) {
        let contact = Self.contact(of: reading)
        guard let target = target(of: reading) else { return }
        note(target, of: contact)
        let hasMessage = server.acknowledgedMessages.contains(target.number)
        let acknowledged = { [weak self] in
            guard let self, hasMessage else { return }
            knows(target, of: contact)
            server.feature(SimulatedNotifications.self).acknowledge(target)
        }
        if reading.isMarked {
            server.messages.receive(
                "<displayed xmlns='\(Self.markers)' id='\(target.messageID)'/><store xmlns='urn:xmpp:hints'/>",
                from: server.account + "/phone", to: contact)
        }
        guard reading.isPublished, target.isKept else { return }
        publishedElsewhere[contact] = max(publishedElsewhere[contact] ?? 0, target.number)
        server.feature(SimulatedNodes.self).publish(
            """
            <displayed xmlns='\(Self.node)'><stanza-id xmlns='urn:xmpp:sid:0' by='\(server.account)' id='\(target.id)'/>\
            </displayed>
            """, as: contact, to: Self.node, acknowledged: acknowledged)
    }
}
