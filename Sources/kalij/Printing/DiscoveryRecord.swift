import KalijClient
import KalijStream
import KalijText
import KalijXML

/// An entity's description, as printed by `disco`.
struct DiscoveryRecord: Encodable {
    private let account: String
    private let to: String
    private let node: String?
    private var info: Info?
    private var items: Items?

    private enum Key: CodingKey {
        case account, to, node, info, items
    }

    private struct Info: Encodable {
        let outcome: String?
        let reason: String?
        let identities: [Identity]
        let features: [String]
        let forms: [FormRecord]
    }

    private struct Identity: Encodable {
        let category, type: String
        let name, lang: String?
    }

    private struct Items: Encodable {
        let outcome: String?
        let reason: String?
        let items: [Item]
    }

    private struct Item: Encodable {
        let jid: String
        let node, name: String?
    }

    /// - Parameter questions: the query for the information, and optionally the query for the items.
    init(_ questions: [AdHocRequests.Question], node: String?) {
        account = questions.first?.account ?? ""
        to = questions.first?.recipient ?? ""
        self.node = node
        if let question = questions.first {
            let found = question.discoveryInfo
            info = Info(
                outcome: question.outcome, reason: question.reason,
                identities: found?.identities.map {
                    Identity(category: $0.category, type: $0.type, name: $0.name, lang: $0.language)
                } ?? [], features: found?.features ?? [], forms: found?.forms.map(FormRecord.init) ?? [])
        }
        if questions.count > 1 {
            items = Items(
                outcome: questions[1].outcome, reason: questions[1].reason,
                items: questions[1].discoveryItems?.map {
                    Item(jid: $0.jid.description, node: $0.node, name: $0.name)
                } ?? [])
        }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(account, forKey: .account)
        try object.encode(to, forKey: .to)
        try object.encodeIfPresent(node, forKey: .node)
        try object.encodeIfPresent(info, forKey: .info)
        try object.encodeIfPresent(items, forKey: .items)
    }
}

/// An entity's description, a line for each part.
enum DiscoveryLines {
    static func of(_ question: AdHocRequests.Question) -> [PrintedText] {
        let info = question.discoveryInfo.map(lines) ?? []
        let items = question.discoveryItems ?? []
        return info + items.map { line(["item", $0.jid.description, $0.node ?? "", $0.name ?? ""]) }
    }

    private static func lines(_ info: DiscoveryInfo) -> [PrintedText] {
        let identities = info.identities.map { identity in
            let language = identity.language.map { " (\($0))" } ?? ""
            return line(["identity", "\(identity.category)/\(identity.type)", (identity.name ?? "") + language])
        }
        return identities + info.features.map { line(["feature", $0]) } + info.forms.flatMap(lines)
    }

    private static func lines(_ form: DataForm) -> [PrintedText] {
        let fields = form.fields.filter { $0.name != DataForm.formTypeField }
        return fields.map { line(["form", form[DataForm.formTypeField]?.value ?? "", $0.name ?? ""] + $0.values) }
    }

    /// The parts separated by tabs, with none at the end. Received text cannot break the line.
    private static func line(_ parts: [String]) -> PrintedText {
        var parts = parts
        while parts.last?.isEmpty == true { parts.removeLast() }
        return parts.map { PrintedText(field: $0) }.joined(separator: "\t")
    }
}

extension AdHocRequests.Question {
    /// The `<query/>` of the response.
    private func query(_ namespace: String) -> Element? {
        guard outcome == "result", let answer, let iq = try? Element.parse(answer) else { return nil }
        return iq.child("query", namespace)
    }

    var discoveryInfo: DiscoveryInfo? { query(DiscoveryInfo.namespace).flatMap { DiscoveryInfo($0) } }
    var discoveryItems: [DiscoveryItem]? { query(DiscoveryItem.namespace).flatMap(DiscoveryItem.all) }
}
