/// A message as the server has it: the record that everything is compared with.
struct ArchivedMessage {
    let id: String
    /// Bare or full addresses, as the server saw them.
    let from: String
    let to: String
    let messageID: String
    /// Nil if it says nothing to people.
    let body: String?
    /// The stanza as it is delivered and archived, without the stanza-id.
    let stanza: String
    /// Milliseconds since 1970.
    let at: Int64
    /// Microseconds of the world from which on pages show it.
    var visible: Int64
    /// Tells it from all others.
    let number: Int
    /// Whether the archive keeps it, or it is only in the record.
    let isKept: Bool

    /// What tells it from all others for the client.
    var key: String { "\(id) \(from) \(messageID)" }

    /// What it says, if it says anything.
    var text: String { body ?? "" }

    /// As it is delivered: with its place in the archive, if there is one; delayed, if it comes late.
    func delivered(to account: String, isStamped: Bool, isLate: Bool = false) -> String {
        let delay = isLate ? "<delay xmlns='urn:xmpp:delay' from='example.org' stamp='\(Stamp.text(at))'/>" : ""
        let stanzaID = isStamped ? "<stanza-id xmlns='urn:xmpp:sid:0' by='\(account)' id='\(id)'/>" : ""
        let end = stanza.index(stanza.endIndex, offsetBy: -"</message>".count)
        return stanza[..<end] + stanzaID + delay + "</message>"
    }
}
