import KalijAddress
import KalijHandlers
import KalijCore
import KalijStream
import KalijXML

/// A request that changes a room. The room's response determines the outcome of the intent.
struct RoomAdminRequest: IntentRequest {
    static let name = "rooms.change"
    let intent: String
    var attempt = 1
    /// The bare address of the room.
    let room: String
    let change: Change

    enum Change: Codable {
        /// The affiliation of addresses (XEP-0045 section 9).
        case affiliations([String], String, reason: String?)
        /// The role of an occupant, identified by the nickname (section 8).
        case role(String, String, reason: String?)
        /// Fields of the configuration (section 10.2), sent after the form that defines them was received.
        case configuration([String: String])
        /// The room is destroyed (section 10.9).
        case destruction(successor: String?, reason: String?)
        /// The picture in base64, and its media type; nil for none (XEP-0486).
        case picture(String?, type: String?)
        /// Retracts a message, identified by the archive's id, for all occupants (XEP-0425); `isOld` for the protocol before version
        /// 0.3.
        case moderation(String, reason: String?, isOld: Bool)
    }

    private static let admin = RoomCoordinator.namespace + "#admin"
    private static let owner = RoomCoordinator.namespace + "#owner"

    init(intent: String, _ room: JID, _ change: Change) {
        (self.intent, self.room, self.change) = (intent, room.bare.description, change)
    }

    func request(in step: Step) -> Element { .request(.set, content, to: JID.received(room)) }

    private var content: Element {
        switch change {
        case .affiliations(let people, let affiliation, let reason):
            Self.query(Self.admin, people.map { Self.item(["affiliation": affiliation, "jid": $0], reason) })
        case .role(let nick, let role, let reason):
            Self.query(Self.admin, [Self.item(["role": role, "nick": nick], reason)])
        case .configuration(let fields): Self.query(Self.owner, [Self.form(fields)])
        case .destruction(let successor, let reason):
            Self.query(
                Self.owner,
                [
                    Element(
                        "destroy", xmlns: Self.owner, attributes: successor.map { ["jid": $0] } ?? [:],
                        children: reason.map { [Element("reason", xmlns: Self.owner, text: $0)] } ?? [])
                ])
        case .picture(let base64, let type): Self.vCard(base64, type)
        case .moderation(let id, let reason, let isOld): isOld ? Moderation.old(id, reason) : Moderation.new(id, reason)
        }
    }

    private static func query(_ namespace: String, _ children: [Element]) -> Element {
        Element("query", xmlns: namespace, children: children)
    }

    private static func item(_ attributes: [String: String], _ reason: String?) -> Element {
        let item = Element("item", xmlns: admin, attributes: attributes)
        if let reason { item.add(Element("reason", xmlns: admin, text: reason)) }
        return item
    }

    static func form(_ fields: [String: String]) -> Element {
        DataForm(
            .submit, formType: RoomCoordinator.namespace + "#roomconfig",
            fields: fields.sorted { $0.key < $1.key }.map { DataForm.Field($0.key, values: [$0.value]) }
        ).element
    }

    static func vCard(_ base64: String?, _ type: String?) -> Element {
        let card = Element("vCard", xmlns: "vcard-temp")
        guard let base64 else { return card }
        let photo = Element("PHOTO", xmlns: "vcard-temp")
        if let type { photo.add(Element("TYPE", xmlns: "vcard-temp", text: type)) }
        photo.add(Element("BINVAL", xmlns: "vcard-temp", text: base64))
        card.add(photo)
        return card
    }

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        guard let room = try RoomCoordinator(step: step).rows.room(JID.received(room)) else { return .done }
        switch change {
        case .affiliations(let people, let affiliation, _):
            let members = Members(step: step, room: room)
            try members.confirmed(people, affiliation)
            try members.queryLists()
        case .configuration(let fields):
            try rename(room, fields[ConfigureRoom.nameField], in: step)
            try RoomCoordinator(step: step).configurationChanged(room)
        case .role, .destruction, .picture, .moderation: break
        }
        return .done
    }

    /// A new name applies at once: the room's next description may have to wait (``RoomInfoResponse/pace``).
    private func rename(_ room: RoomRow, _ name: String?, in step: Step) throws {
        guard let name, name != room.info.name ?? "" else { return }
        var room = room
        room.info.name = name.isEmpty ? nil : name
        try RoomCoordinator(step: step).rows.save(room)
        step.emit(RoomInfoChanged(room))
    }

    func outcome(of error: StanzaError, in step: Step) throws -> IntentOutcome { Self.failure(error, room) }

    static func failure(_ error: StanzaError, _ room: String) -> IntentOutcome {
        switch error.condition {
        case .forbidden, .notAllowed: .failed(Reason(.roomForbids, room, "\(error)"))
        case .serviceUnavailable, .featureNotImplemented: .failed(Reason(.roomCannot, room, "\(error)"))
        default: .failed(Reason(error))
        }
    }
}

/// Requests the form of a room's configuration first: only fields that the form has can be set.
struct RoomFormRequest: IntentRequest {
    static let name = "rooms.form"
    let intent: String
    var attempt = 1
    let room: String
    let fields: [String: String]

    init(intent: String, _ room: JID, fields: [String: String]) {
        (self.intent, self.room, self.fields) = (intent, room.bare.description, fields)
    }

    static func query(to room: JID) -> Element {
        .request(.get, Element("query", xmlns: RoomCoordinator.namespace + "#owner"), to: room)
    }

    func request(in step: Step) -> Element { Self.query(to: JID.received(room)) }

    /// The names of the fields in a response; nil if it has no form.
    static func fields(of answer: Element?) -> [String]? {
        guard let x = answer?.child("query", RoomCoordinator.namespace + "#owner")?.child("x", "jabber:x:data") else {
            return nil
        }
        return (try? DataForm(x))?.fields.compactMap(\.name).filter { $0 != DataForm.formTypeField }
    }

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        guard let known = Self.fields(of: result) else { return .failed("\(room) has no form for its configuration") }
        let unknown = fields.keys.filter { !known.contains($0) }.sorted()
        guard unknown.isEmpty else {
            let most = known.prefix(60).joined(separator: ", ")
            return .failed("\(room) has no setting \(unknown.joined(separator: ", ")); there are \(most)")
        }
        try RoomAdminRequest(intent: intent, JID.received(room), .configuration(fields)).send(in: step)
        return .pending
    }

    func outcome(of error: StanzaError, in step: Step) throws -> IntentOutcome { RoomAdminRequest.failure(error, room) }
}

/// Sends the subject to the room, and a self-ping after it. When the ping is answered, the room has either shown the subject or
/// rejected it (XEP-0045 section 8.1).
struct SetSubjectRequest: IntentRequest {
    static let name = "rooms.subject"
    let intent: String
    var attempt = 1
    let room: String
    let subject: String

    init(intent: String, _ room: JID, _ subject: String) {
        (self.intent, self.room, self.subject) = (intent, room.bare.description, subject)
    }

    func request(in step: Step) throws -> Element {
        try step.send(
            Element(
                "message", xmlns: "jabber:client",
                attributes: ["type": "groupchat", "to": room, "id": "\(intent)-\(attempt)"],
                children: [Element("subject", xmlns: "jabber:client", text: subject)]))
        let held = try RoomCoordinator(step: step).rows.room(JID.received(room))?.held ?? ""
        return .request(.get, Element("ping", xmlns: "urn:xmpp:ping"), to: JID.received("\(room)/\(held)"))
    }

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome { try outcome(in: step) }
    func outcome(of error: StanzaError, in step: Step) throws -> IntentOutcome { try outcome(in: step) }

    private func outcome(in step: Step) throws -> IntentOutcome {
        let now = try RoomCoordinator(step: step).rows.room(JID.received(room))?.subject ?? ""
        return now == subject ? .done : .failed(Reason(.subjectRefused, room))
    }
}
