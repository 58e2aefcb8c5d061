import KalijCore
import KalijStream
import KalijXML

/// The `<notify/>` among the extensions of a bookmark (XEP-0492 section 2). The first one counts.
struct NotifyElement {
    static let namespace = "urn:xmpp:notification-settings:1"

    /// The identity of this client (XEP-0030).
    let identity: DiscoveryInfo.Identity?

    /// The choice for this client; nil if there is none.
    func choice(in extensions: [Element]) -> NotifyChoice? {
        Self.notify(in: extensions).flatMap { settings(in: $0).first }.flatMap { NotifyChoice(setting: $0.name) }
    }

    /// Replaces the choice for this client. Settings for other clients and unknown elements are preserved, also those within the
    /// replaced setting (section 3, `<advanced/>`).
    func set(_ choice: NotifyChoice, in extensions: inout [Element]) {
        let old = Self.notify(in: extensions)
        let replaced = old.map(settings) ?? []
        let setting = Element(
            choice.setting, xmlns: Self.namespace, attributes: replaced.first?.attributes ?? [:],
            children: replaced.flatMap(\.children))
        let kept = (old?.children ?? []).filter { child in !replaced.contains { $0.isSame(as: child) } }
        let notify = Element(
            "notify", xmlns: Self.namespace, attributes: old?.attributes ?? [:], children: kept + [setting])
        if !notify.children.contains(where: { Self.isSetting($0) && Target(of: $0) == Target() }) {
            notify.add(Element(choice.setting, xmlns: Self.namespace))
        }
        guard let place = extensions.firstIndex(where: Self.isNotify) else { return extensions.append(notify) }
        extensions[place] = notify
    }

    /// The identities that a setting is for; of no category: the fallback.
    private struct Target: Equatable {
        var category: String?
        var type: String?

        init(_ category: String? = nil, _ type: String? = nil) { (self.category, self.type) = (category, type) }

        init(of setting: Element) { self.init(setting["identity-category"], setting["identity-type"]) }
    }

    /// The settings with the greatest specificity for this client (section 3). There may be contradicting ones; the first one counts.
    private func settings(in notify: Element) -> [Element] {
        let all = notify.children.filter(Self.isSetting)
        let own = identity.map { [Target($0.category, $0.type), Target($0.category)] } ?? []
        for target in own + [Target()] {
            let found = all.filter { Target(of: $0) == target }
            if !found.isEmpty { return found }
        }
        return []
    }

    private static func isSetting(_ element: Element) -> Bool {
        element.namespace == namespace && NotifyChoice(setting: element.name) != nil
    }

    private static func isNotify(_ element: Element) -> Bool { element.isNamed("notify", namespace) }

    private static func notify(in extensions: [Element]) -> Element? { extensions.first(where: isNotify) }
}

extension NotifyChoice {
    /// - Parameter setting: the name of the element (section 2.1).
    init?(setting: String) {
        switch setting {
        case "always": self = .all
        case "on-mention": self = .mentions
        case "never": self = .none
        default: return nil
        }
    }

    /// The name of the element. A period of silence is not shared.
    var setting: String {
        switch self {
        case .all, .mutedUntil: "always"
        case .mentions: "on-mention"
        case .none: "never"
        }
    }
}
