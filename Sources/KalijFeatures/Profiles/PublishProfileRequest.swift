import KalijCore
import KalijStream
import KalijXML

/// Publishes the parts of the account's own profile, one after the other: the vCard first, because some servers derive the nodes from
/// it.
struct PublishProfileRequest: IntentRequest {
    static let name = "profiles.published"
    let intent: String
    var attempt = 1
    private let change: SetProfile
    private var part = Part.readCard
    /// The new vCard.
    private var card: String?

    private enum Part: String, Codable, CaseIterable { case readCard, writeCard, nick, data, metadata }

    init(intent: String, _ change: SetProfile) { (self.intent, self.change) = (intent, change) }

    private static let pubsub = "http://jabber.org/protocol/pubsub"

    /// Sends the request of the first part.
    func begin(in step: Step) throws -> IntentOutcome { try send(Part.allCases[...], in: step) }

    /// Sends the request of the first required part among `parts`.
    private func send(_ parts: ArraySlice<Part>, in step: Step) throws -> IntentOutcome {
        guard let part = parts.first(where: isNeeded) else { return .done }
        var next = self
        (next.part, next.attempt) = (part, 1)
        do { try next.send(in: step) } catch let error as StanzaTooLong {
            return .failed("the \(part == .writeCard ? "vCard" : "profile") is too large: \(error)")
        }
        return .pending
    }

    private var following: ArraySlice<Part> { Part.allCases.drop { $0 != part }.dropFirst() }

    private func isNeeded(_ part: Part) -> Bool {
        switch part {
        case .readCard: change.nick != nil || change.vcard != nil
        case .writeCard: card != nil
        case .nick: change.nick != nil
        case .data: change.avatar?.isEmpty == false
        case .metadata: change.avatar != nil
        }
    }

    // MARK: Requests

    func request(in step: Step) throws -> Element {
        switch part {
        case .readCard: return .request(.get, Element("vCard", xmlns: VCard.namespace))
        case .writeCard: return .request(.set, try Element.parse(card ?? ""))
        case .nick:
            let nick = Element("nick", xmlns: ProfilesFeature.nicknames, text: change.nick ?? "")
            return publish(nick, as: "current", in: ProfilesFeature.nicknames)
        case .data:
            let picture = try Avatar(base64: change.avatar ?? "")
            let data = Element("data", xmlns: AvatarNode.data, text: picture.base64)
            return publish(data, as: picture.hash, in: AvatarNode.data)
        case .metadata:
            let metadata = Element("metadata", xmlns: AvatarNode.metadata)
            guard isNeeded(.data) else { return publish(metadata, as: "current", in: AvatarNode.metadata) }
            let picture = try Avatar(base64: change.avatar ?? "")
            metadata.add(
                Element(
                    "info", xmlns: AvatarNode.metadata,
                    attributes: ["bytes": "\(picture.bytes.count)", "id": picture.hash, "type": picture.type]))
            return publish(metadata, as: picture.hash, in: AvatarNode.metadata)
        }
    }

    /// Publishes without publish-options: another configuration of the node is the user's choice.
    private func publish(_ content: Element, as id: String, in node: String) -> Element {
        let item = Element("item", xmlns: Self.pubsub, attributes: ["id": id], children: [content])
        let publish = Element("publish", xmlns: Self.pubsub, attributes: ["node": node], children: [item])
        return .request(.set, Element("pubsub", xmlns: Self.pubsub, children: [publish]))
    }

    // MARK: Responses

    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        try ending(published(result, in: step), in: step)
    }

    func refused(in step: Step) throws { try ProfileChanges(step: step).ended(intent) }

    /// Begins the next change when this one has an outcome.
    private func ending(_ outcome: IntentOutcome, in step: Step) throws -> IntentOutcome {
        if outcome != .pending { try ProfileChanges(step: step).ended(intent) }
        return outcome
    }

    private func published(_ result: Element?, in step: Step) throws -> IntentOutcome {
        var next = self
        let (profiles, own) = (Profiles(step: step), step.account.jid)
        switch part {
        case .readCard: next.card = edited(result?.child("vCard", VCard.namespace))?.xml()
        case .writeCard: try profiles.read(VCard.stored(Element.parse(card ?? "")), of: own)
        case .nick: try profiles.named(own, change.nick?.isEmpty == false ? change.nick : nil)
        case .data: break
        case .metadata:
            guard isNeeded(.data) else { try profiles.pictured(own, nil); break }
            do { try profiles.fetched(try Avatar(base64: change.avatar ?? ""), of: own, isByNode: true) } catch let
                failure as IntentFailure
            { return .failed(failure.description) }
        }
        return try next.send(following, in: step)
    }

    func outcome(of error: StanzaError, in step: Step) throws -> IntentOutcome {
        let isMissing = [.serviceUnavailable, .featureNotImplemented].contains(error.condition)
        switch part {
        case .readCard where error.condition == .itemNotFound: return try done(nil, in: step)
        case .readCard where isMissing && change.vcard == nil:
            let outcome = try send(following, in: step)
            // `refused` ends a change that has failed.
            if case .failed = outcome { return outcome }
            return try ending(outcome, in: step)
        case .readCard, .writeCard:
            return .failed(isMissing ? "the server keeps no vCards (XEP-0054)" : "the vCard: \(error)")
        case .nick, .data, .metadata:
            return .failed(isMissing ? "the server has no personal nodes (XEP-0163): \(error)" : "\(error)")
        }
    }

    /// The vCard with the changes; all other elements are preserved. Nil if nothing changes.
    private func edited(_ old: Element?) -> Element? {
        let card = old?.copy() ?? Element("vCard", xmlns: VCard.namespace)
        var texts = change.vcard ?? [:]
        if let nick = change.nick { texts["NICKNAME"] = texts["NICKNAME"] ?? nick }
        // A vCard requires a full name (section 3): the nickname, unless the user has chosen another.
        if let nick = change.nick, ["", card.child("NICKNAME")?.text].contains(card.child("FN")?.text ?? "") {
            texts["FN"] = texts["FN"] ?? nick
        }
        var isChanged = false
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) where card.child(name)?.text ?? "" != text {
            isChanged = true
            if let element = card.child(name) {
                if text.isEmpty { card.remove(element) } else { element.setText(text) }
            } else {
                card.add(Element(name, xmlns: VCard.namespace, text: text))
            }
        }
        return isChanged ? card : nil
    }
}
