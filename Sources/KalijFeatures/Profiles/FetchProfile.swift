import KalijAddress
import KalijCore
import KalijStream
import KalijXML

/// Fetches somebody's vCard (XEP-0054), and the picture, unless it is stored already. The account's own profile can be fetched in the
/// same way. The results are in ``Profile``.
public struct FetchProfile: Intent {
    public static let name = "lookup"
    /// The bare address; of an occupant of a room, the full address.
    public let jid: JID
    /// Whether the vCard is fetched, and not only the picture; nil is true.
    public let vcard: Bool?

    private enum CodingKeys: String, CodingKey {
        case jid = "contact"
        case vcard
    }

    /// - Parameters:
    ///   - jid: the bare address; of an occupant of a room, the full address.
    ///   - vcard: whether the vCard is fetched, and not only the picture.
    public init(_ jid: JID, vcard: Bool = true) { (self.jid, self.vcard) = (jid, vcard) }

    public func check() throws {
        guard jid.isPrepared else { throw IntentFailure("\(jid) is no address") }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        let profile = try Profiles(step: step).profile(of: jid)
        var question = VCardResponse(intent: id, jid, wantsCard: vcard ?? true)
        if vcard == false {
            guard let avatar = profile.avatar else { throw IntentFailure("no picture of \(jid) is known") }
            guard profile.avatarFile == nil else { return .done }
            if profile.isByNode { question.wanted = .data(avatar) }
        }
        try question.send(in: step)
        return .pending
    }
}

/// Handles a vCard, or the content of a node.
struct VCardResponse: IntentRequest {
    static let name = "profiles.told"
    let intent: String
    var attempt = 1
    let jid: JID
    /// Whether the vCard was requested, and not only the picture.
    let wantsCard: Bool
    /// The part to fetch next.
    var wanted = Wanted.card

    enum Wanted: Codable, Equatable {
        case card
        /// The picture that the node offers.
        case metadata
        /// The picture with this SHA-1.
        case data(String)
    }

    init(intent: String, _ jid: JID, wantsCard: Bool) {
        (self.intent, self.jid, self.wantsCard) = (intent, jid, wantsCard)
    }

    private static let pubsub = "http://jabber.org/protocol/pubsub"

    func request(in step: Step) throws -> Element {
        let recipient = jid == step.account.jid ? nil : jid
        let items = Element("items", xmlns: Self.pubsub)
        switch wanted {
        case .card: return .request(.get, Element("vCard", xmlns: VCard.namespace), to: recipient)
        case .metadata:
            items["node"] = AvatarNode.metadata
            items["max_items"] = "1"
        case .data(let hash):
            items["node"] = AvatarNode.data
            items.add(Element("item", xmlns: Self.pubsub, attributes: ["id": hash]))
        }
        return .request(.get, Element("pubsub", xmlns: Self.pubsub, children: [items]), to: recipient)
    }

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        switch wanted {
        case .card: return try Self.capturingFailure { try read(result, in: step) }
        case .metadata:
            let items = result.flatMap { OwnNode.items(of: AvatarNode.metadata, in: $0) }
            if let metadata = items?.children("item").first?.children.first {
                try Profiles(step: step).pictured(jid, AvatarNode.hash(in: metadata))
            }
            return try requestData(in: step) ? .pending : .done
        case .data(let hash): return try Self.capturingFailure { try store(result, hash, in: step) }
        }
    }

    func outcome(of error: StanzaError, in step: Step) throws -> IntentOutcome {
        switch wanted {
        // A vCard is optional.
        case .card where error.condition == .itemNotFound: return try Self.capturingFailure { try read(nil, in: step) }
        case .card where try requestData(in: step): return .pending
        case .card: return .failed("the vCard of \(jid) cannot be had: \(error)")
        // The node does not exist, or is not accessible: the vCard was fetched.
        case .metadata: return .done
        case .data: return .failed("the picture of \(jid) cannot be had: \(error)")
        }
    }

    /// Converts the rejection of a picture into a failure of the intent, so that the step continues.
    private static func capturingFailure(_ body: () throws -> IntentOutcome) throws -> IntentOutcome {
        do { return try body() } catch let failure as IntentFailure { return .failed(failure.description) }
    }

    /// Handles the vCard, with or without a picture.
    private func read(_ result: Element?, in step: Step) throws -> IntentOutcome {
        let profiles = Profiles(step: step)
        let card = result?.child("vCard", VCard.namespace) ?? Element("vCard", xmlns: VCard.namespace)
        try profiles.read(VCard.stored(card), of: jid)
        let photo = card.child("PHOTO")?.child("BINVAL")?.text ?? ""
        let profile = try profiles.profile(of: jid)
        guard profile.isByNode else {
            guard photo.isEmpty, wantsCard, jid.isBare else { return try store(photo, in: step) }
            try profiles.shows(jid, nil)
            try requestNext(.metadata, in: step)
            return .pending
        }
        guard profile.avatarFile == nil else { return .done }
        if let picture = try? Avatar(base64: photo), picture.hash == profile.avatar {
            try profiles.fetched(picture, of: jid, isByNode: true)
            return .done
        }
        return try requestData(in: step) ? .pending : .done
    }

    /// The picture of a vCard is the present one, whatever an earlier presence has announced.
    private func store(_ photo: String, in step: Step) throws -> IntentOutcome {
        let picture: Avatar
        do {
            guard !photo.isEmpty else { throw IntentFailure("the vCard of \(jid) has no picture") }
            picture = try Avatar(base64: photo)
        } catch is IntentFailure where wantsCard {
            // The vCard was fetched.
            return .done
        }
        try Profiles(step: step).fetched(picture, of: jid, isByNode: false)
        return .done
    }

    private func requestNext(_ wanted: Wanted, in step: Step) throws {
        var next = VCardResponse(intent: intent, jid, wantsCard: wantsCard)
        next.wanted = wanted
        try next.send(in: step)
    }

    /// - Returns: false if the picture is stored, or not in a node.
    private func requestData(in step: Step) throws -> Bool {
        let profile = try Profiles(step: step).profile(of: jid)
        guard profile.isByNode, profile.avatarFile == nil, let avatar = profile.avatar else { return false }
        try requestNext(.data(avatar), in: step)
        return true
    }

    /// Handles the picture of the node.
    private func store(_ result: Element?, _ hash: String, in step: Step) throws -> IntentOutcome {
        let items = result.flatMap { OwnNode.items(of: AvatarNode.data, in: $0) }
        guard let data = items?.children("item").first?.child("data", AvatarNode.data) else {
            throw IntentFailure("the picture of \(jid) is gone")
        }
        let picture = try Avatar(base64: data.text)
        guard picture.hash == hash else { throw IntentFailure("the picture of \(jid) is not what its hash says") }
        let profiles = Profiles(step: step)
        guard try profiles.profile(of: jid).avatar == picture.hash else {
            throw IntentFailure("\(jid) shows another picture by now")
        }
        try profiles.fetched(picture, of: jid, isByNode: true)
        return .done
    }
}
