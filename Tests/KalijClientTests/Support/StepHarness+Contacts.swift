import KalijAddress
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Contacts.
extension StepHarness {
    /// A server with versions of the roster (RFC 6121 section 2.6.1).
    static let versions = "<ver xmlns='urn:xmpp:features:rosterver'/>"
    /// A server with approval beforehand (RFC 6121 section 3.4).
    static let preapproval = "<sub xmlns='urn:xmpp:features:pre-approval'/>"

    /// A harness whose new session has asked for the roster.
    static func askingRoster(offering features: String = versions) throws -> StepHarness {
        let harness = try StepHarness()
        try harness.offer(features)
        try harness.bind(answered: .all(but: .roster))
        return harness
    }

    /// A harness with a known roster.
    static func withRoster(_ items: String = "", offering features: String = versions) throws -> StepHarness {
        let harness = try askingRoster(offering: features)
        try harness.answerRoster(items)
        return harness
    }

    /// The id of the request that waits under the name of a handler, the newest.
    func open(_ name: String) throws -> String {
        try #require(try text("SELECT id FROM request WHERE name = '\(name)' ORDER BY asked_at DESC LIMIT 1"))
    }

    /// The server tells the whole roster.
    @discardableResult
    func answerRoster(_ items: String, version: String? = "v1") throws -> Step.Effects {
        let version = version.map { " ver='\($0)'" } ?? ""
        return try receive(
            "<iq type='result' id='\(try open("contacts.roster"))'><query xmlns='jabber:iq:roster'\(version)>\(items)</query></iq>"
        )
    }

    /// Something pushes a change of the roster.
    @discardableResult
    func push(_ items: String, version: String? = "v2", from sender: String? = nil) throws -> Step.Effects {
        let (from, version) = (sender.map { " from='\($0)'" } ?? "", version.map { " ver='\($0)'" } ?? "")
        return try receive(
            "<iq type='set' id='p'\(from)><query xmlns='jabber:iq:roster'\(version)>\(items)</query></iq>")
    }

    /// A request that waits under the name of a handler is answered.
    @discardableResult
    func fulfil(_ name: String) throws -> Step.Effects {
        try receive("<iq type='result' id='\(try open(name))'/>")
    }

    /// The user wants `intent`.
    @discardableResult
    func want(_ intent: some Intent, id: String = "wish") throws -> Step.Effects {
        try runner.run("intent", for: account) { step in _ = try Intents(step: step).perform(intent, id: id) }
    }

    /// The user wants to add a contact without a name and groups; the server says that the roster is unchanged.
    @discardableResult
    func add(_ jid: String, id: String = "wish") throws -> Step.Effects {
        try want(AddContact(.received(jid)), id: id)
        return try fulfil("contacts.added")
    }

    func outcome(_ id: String = "wish") throws -> IntentOutcome? {
        try Intents.outcome(of: id, by: account, in: database)
    }

    /// The presence in the queue that is about a subscription, as `type to`.
    func subscriptions() throws -> [String] {
        try OutboundQueue(database: database, account: account.id).entries(after: 0, limit: 1000)
            .map { try Element.parse($0.stanza) }.filter { $0.name == "presence" }
            .compactMap { stanza in stanza["type"].map { "\($0) \(stanza["to"] ?? "-")" } }
    }

    /// The contacts as `address subscription`.
    func contacts() throws -> [String] {
        try Contacts(database).contacts(of: account).map { "\($0.jid) \($0.subscription.rawValue)" }
    }

    /// The addresses of the requests that wait for the user.
    func requests() throws -> [String] { try Contacts(database).requests(of: account).map(\.jid.description) }

    /// The process dies; the next process resumes the session.
    func resumeElsewhere() throws -> Step.Effects { try steps.resumed(try steps.load().acknowledged) }
}

extension Step.Effects {
    /// The events of a type, as the lines for people.
    func told<Content: EventContent>(_ type: Content.Type) -> [String] {
        events.compactMap { ($0.content as? Content).map { "\($0)" } }
    }
}
