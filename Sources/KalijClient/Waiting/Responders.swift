import KalijAddress

/// Whose answer counts (RFC 6120 8.1.2.1, 8.1.3, 10.3.3).
struct Responders {
    private let account: Account

    init(_ account: Account) { self.account = account }

    /// What is stored of who was asked: nothing for the account itself, that is, its server on its behalf.
    func key(_ responder: JID) -> String { responder == account.jid ? "" : responder.description }

    /// Whether a stanza with this `from` may be the answer of the one stored as `asked`.
    ///
    /// The account's server answers for the account without `from`, or with the account's bare or full address; for
    /// itself with its own name or, being the only one that can leave it out, without. Anyone else is who the server
    /// says.
    func mayAnswer(_ from: String?, for asked: String) -> Bool {
        guard let from else { return asked.isEmpty || asked == account.jid.domain }
        let sender = JID.received(from)
        return asked.isEmpty ? sender.bare == account.jid : sender == JID.received(asked)
    }
}
