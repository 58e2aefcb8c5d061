import KalijCore
import KalijAddress
import KalijHandlers
import KalijStore
import KalijText
import KalijXML

/// The account's archiving preferences (XEP-0441). They are requested when messages of a lost session wait for the archive, and stored
/// for the conversations of those messages.
struct ArchivePreferences {
    package let step: Step
    private var account: Value { .integer(step.account.id) }

    /// Whether the response is outstanding.
    var isAwaited: Bool { get throws { try Requests(step: step).isWaiting([ArchivePreferencesResponse.name]) } }

    package func requestPreferences() throws {
        try step.database.run("DELETE FROM archive_preference WHERE account = ?", [account])
        guard try !isAwaited else { return }
        try step.send(
            .request(.get, Element("prefs", xmlns: "urn:xmpp:mam:2")), then: ArchivePreferencesResponse(),
            within: EngineLimits.serverTimeout)
    }

    /// Whether messages to `conversation` are archived; nil if the preferences do not determine it: the server supports none, or
    /// decides by the roster.
    package func keeps(_ conversation: String) throws -> Bool? {
        try step.database.statement("SELECT keeps FROM archive_preference WHERE account = ? AND conversation = ?")
            .first([account, .text(conversation)]) { $0.bool() }
    }

    /// Stores the preferences in the response for each of `conversations`.
    package func store(_ iq: Element, of conversations: [String]) throws {
        guard let preferences = iq.child("prefs", "urn:xmpp:mam:2") else { return }
        for conversation in Set(conversations.map(\.exact)) {
            guard let keeps = Self.keeps(JID.received(conversation.text), preferences) else { continue }
            try step.database.run(
                "INSERT OR REPLACE INTO archive_preference(account, conversation, keeps) VALUES (?, ?, ?)",
                [account, .text(conversation.text), .integer(keeps ? 1 : 0)])
        }
    }

    /// A bare address stands for all of its resources, a full address for itself (XEP-0441 section 4). An entry of `never` counts even
    /// for the domain and for single resources of an address.
    private static func keeps(_ jid: JID, _ preferences: Element) -> Bool? {
        func list(_ name: String) -> [JID] {
            preferences.child(name, "urn:xmpp:mam:2")?.children("jid").map { JID.received($0.text) } ?? []
        }
        if list("never").contains(where: { $0.bare == jid || $0.description.exact == jid.domain.exact }) {
            return false
        }
        if list("always").contains(jid) { return true }
        return switch preferences["default"] {
        case "always": true
        case "never": false
        default: nil
        }
    }
}

/// The response to the request for the preferences.
struct ArchivePreferencesResponse: InvalidatableHandler {
    package static let name = "catch-up.preferences"

    func call(_ reply: IQReply, in step: Step) throws {
        if case .result(let iq) = reply {
            try ArchivePreferences(step: step).store(
                iq, of: try DeliveryEvidence(step: step).waiting().map(\.conversation))
        }
        try step.catchUp.didReceivePreferences()
    }

    /// The next session sends the request again if messages wait then.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
