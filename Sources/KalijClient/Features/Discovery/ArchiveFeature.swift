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

    /// Whether the answer shows an archive (XEP-0313 section 3), stored with the session; and whether the account's
    /// stanza-ids are to be trusted, which an archive or XEP-0359 promises. An error says nothing new: by being in trouble a
    /// server loses neither.
    func answered(_ iq: Element) throws -> Bool {
        guard iq["type"] == "result" else { return try SessionRow.load(step.account.id, from: step.database).archive }
        let hasArchive = iq.check(
            "/<type=result>/{http://jabber.org/protocol/disco#info}query/feature<var=urn:xmpp:mam:2>")
        let stamps =
            hasArchive
            || iq.check("/<type=result>/{http://jabber.org/protocol/disco#info}query/feature<var=urn:xmpp:sid:0>")
        try step.database.run(
            "UPDATE session SET archive = ?, stamps = ? WHERE account = ?",
            [.integer(hasArchive ? 1 : 0), .integer(stamps ? 1 : 0), .integer(step.account.id)])
        return hasArchive
    }
}
