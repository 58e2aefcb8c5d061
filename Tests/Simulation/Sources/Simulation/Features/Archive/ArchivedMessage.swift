/// A message in the server's record, for every comparison.
struct ArchivedMessage {
    let id: String
    /// Bare or full addresses, as the server saw them.
    let from: String
    let to: String
    let messageID: String
    /// Nil without a text for people.
    let body: String?
    /// The stanza as delivered and archived, without the stanza-id.
    let stanza: String
    /// Milliseconds since 1970.
    let at: Int64
    /// When pages begin to show the message, in microseconds of the world.
    var visible: Int64
    /// Unique.
    let number: Int
    /// Whether the archive keeps the message; if not, the message is only in the record.
    let isKept: Bool

    /// A key that is unique for the client.
    var key: String { "\(id) \(from) \(messageID)" }

    /// The text, empty if there is none.
    var text: String { body ?? "" }

    /// The delivered stanza: with its place in the archive, if `isStamped`; with a delay, if `isLate`.
    func delivered(to account: String, isStamped: Bool, isLate: Bool = false) -> String {
        let delay = isLate ? "<delay xmlns='urn:xmpp:delay' from='example.org' stamp='\(Stamp.text(at))'/>" : ""
        let stanzaID = isStamped ? "<stanza-id xmlns='urn:xmpp:sid:0' by='\(account)' id='\(id)'/>" : ""
        let end = stanza.index(stanza.endIndex, offsetBy: -"</message>".count)
        return stanza[..<end] + stanzaID + delay + "</message>"
    }
}
