import KalijStore
import KalijXML

/// Finds out whether the server archives the account's messages (XEP-0030 asked of the account's bare address).
struct ArchiveFeature {
    let step: Step

    func ask() throws {
        try step.send(
            .request(.get, Element("query", xmlns: "http://jabber.org/protocol/disco#info")), then: FeaturesKnown(),
            within: CatchUp.patience)
    }

    /// Whether the answer shows an archive (XEP-0313 section 3), stored with the session. An error says nothing new: by
    /// being in trouble a server does not lose the trust in the ids that it stamps on messages.
    func answered(_ iq: Element) throws -> Bool {
        guard iq["type"] == "result" else { return step.trustsArchive }
        let hasArchive = iq.check(
            "/<type=result>/{http://jabber.org/protocol/disco#info}query/feature<var=urn:xmpp:mam:2>")
        try step.database.run(
            "UPDATE session SET archive = ? WHERE account = ?",
            [.integer(hasArchive ? 1 : 0), .integer(step.account.id)])
        return hasArchive
    }
}
