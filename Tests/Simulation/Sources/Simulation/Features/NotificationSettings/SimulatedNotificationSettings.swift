import KalijStore
import KalijXML

extension Violation.Promise {
    /// The room has the same setting on all devices.
    static let notificationSettings = Violation.Promise("notification settings")
}

/// Another device that changes the notification settings of the room in its bookmark (XEP-0492), and what the client makes of it.
final class SimulatedNotificationSettings: SimulatedFeature {
    private static let (bookmarks, namespace) = ("urn:xmpp:bookmarks:1", "urn:xmpp:notification-settings:1")
    private static let pubsub = "http://jabber.org/protocol/pubsub"
    private static let settings = ["always", "on-mention", "never"]

    unowned let server: SimulatedServer
    /// The bookmark of the room that a session was shown last.
    private var shown: [String: String] = [:]
    /// The user's last choice, if it is known to be accepted, and the other device has written nothing since.
    private var last: String?
    /// What the client has written and should not have.
    private var faults: [String] = []

    init(_ server: SimulatedServer) { self.server = server }

    static func actions(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        NotificationChange.all(seed: seed, beside: actions, length: length)
    }

    private var bookmark: String? {
        server.feature(SimulatedNodes.self).node(Self.bookmarks)?.content(of: SimulatedMUC.address)
    }

    // MARK: The other device

    /// As soon as the room has a bookmark, or after 30 seconds never.
    /// - Parameter setting: the name of the element; nil: the choice is removed.
    func write(_ setting: String?, _ number: Int, attempt: Int = 0) {
        guard let bookmark, let old = try? Element.parse(bookmark) else {
            guard attempt < 30 else { return }
            return server.world.after(1_000_000) { [weak self] in self?.write(setting, number, attempt: attempt + 1) }
        }
        let element = Element("conference", xmlns: Self.bookmarks, attributes: old.attributes)
        for child in old.children where child.name != "extensions" { element.add(child) }
        let extensions = element.add(Element("extensions", xmlns: Self.bookmarks))
        extensions.add(Element("known", xmlns: "urn:example:device", text: "\(number)"))
        let notify = extensions.add(Element("notify", xmlns: Self.namespace))
        // For another kind of client.
        notify.add(
            Element(
                "never", xmlns: Self.namespace, attributes: ["identity-category": "client", "identity-type": "phone"]))
        if let setting {
            let advanced = Element(
                "advanced", xmlns: Self.namespace,
                children: [Element("day", xmlns: "urn:example:device", text: "\(number)")])
            notify.add(Element(setting, xmlns: Self.namespace, children: [advanced]))
        }
        last = nil
        server.world.trace("   another device chooses \(setting ?? "nothing")")
        server.feature(SimulatedNodes.self).publish(element.xml(), as: SimulatedMUC.address, to: Self.bookmarks) {}
    }

    /// The user has chosen a setting.
    func note(_ setting: String?, isAccepted: Bool) { last = isAccepted ? setting : nil }

    // MARK: The client

    /// Looks at requests for the bookmarks, which the nodes answer.
    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard let pubsub = request.child("pubsub", Self.pubsub) else { return nil }
        if pubsub.child("items")?["node"] == Self.bookmarks { shown[session.id] = bookmark }
        let publish = pubsub.child("publish")
        guard publish?["node"] == Self.bookmarks, let item = publish?.child("item"), item["id"] == SimulatedMUC.address,
            let written = item.children.first, let shown = shown[session.id].flatMap({ try? Element.parse($0) })
        else { return nil }
        if written == shown { fault("the bookmark is written again without a change") }
        if Self.foreign(shown) != Self.foreign(written) {
            fault("extensions of the bookmark are lost: \(shown) became \(written)")
        }
        return nil
    }

    private func fault(_ text: String) {
        server.world.trace("   FAULT: \(text)")
        faults.append(text)
    }

    /// Whatever another client has put there.
    private static func foreign(_ bookmark: Element) -> [String] {
        let extensions = bookmark.child("extensions")?.children ?? []
        let notify = extensions.first { $0.isNamed("notify", namespace) }?.children ?? []
        let advanced = notify.flatMap(\.children).map { $0.xml() }
        let others =
            extensions.filter { !$0.isNamed("notify", namespace) } + notify.filter { $0["identity-category"] != nil }
        return (others.map { $0.xml() } + advanced).sorted()
    }

    // MARK: The judge

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        guard let bookmark, simulation.record.hasJoined else { return [] }
        let notify = try Element.parse(bookmark).child("extensions", Self.bookmarks)?.child("notify", Self.namespace)
        let listed = notify?.children.first { Self.settings.contains($0.name) && $0["identity-category"] == nil }?.name
        let stored = try database.prepare("SELECT value FROM setting WHERE conversation = ? AND name = 'notify'")
            .first([.text(SimulatedMUC.address)]) { $0.text("value") }
        let own = stored.map { ["none": "never", "all": "always", "mentions": "on-mention"][$0] ?? $0 }
        var violations = faults.map { Violation(.notificationSettings, $0) }
        if own != listed {
            let text = "the setting is \(own ?? "none") here, and \(listed ?? "none") in the bookmark"
            violations.append(Violation(.notificationSettings, text))
        }
        if let last, own != last {
            violations.append(
                Violation(
                    .notificationSettings, "the user has chosen \(last) last, and the setting is \(own ?? "none")"))
        }
        return violations
    }
}
