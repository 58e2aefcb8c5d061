import KalijAddress
import KalijStore

/// Whose answer counts.
///
/// Answers to a request are told apart by their id and by who sends them. The sender's server writes `from` (RFC 6120
/// 8.1.2.1, rule 1; between servers 8.1.2.2), so that nobody can take the name of somebody else: an answer counts if it
/// comes from the address that was asked, compared as a whole.
///
/// Only for the account itself there are several ways to write who answers, all of them its own server's:
/// - no `from` at all: the stanza "is from the user's account on the server" (8.1.2.1, rule 4);
/// - the account's bare address (rule 3);
/// - the full address of this very session, as RFC 3920 9.1.2 allowed, and jabberd2 does;
/// - the server's own name, which older servers write. Nobody else can: it is no address of a client.
///
/// Another client of the same account is none of these: it has a resource of its own.
package struct Responders {
    private let account: Account
    private let database: Database

    package init(_ step: Step) { (account, database) = (step.account, step.database) }

    /// What is stored of who was asked: nothing for the account itself. A request without `to` is one to the account's
    /// bare address (RFC 6120 10.3.3).
    package func key(_ responder: JID?) -> String {
        guard let responder, responder != account.jid else { return "" }
        return responder.description
    }

    /// Whether a stanza with this `from` may be the answer of the one stored as `asked`.
    package func mayAnswer(_ from: String?, for asked: String) throws -> Bool {
        // The server has to give its name when it answers for itself (8.1.2.1, rule 2); by RFC 3920 9.1.2 it need not, and
        // nobody else may leave `from` out.
        guard let from else { return asked.isEmpty || asked == account.jid.domain }
        let sender = JID.received(from)
        if !asked.isEmpty { return sender == JID.received(asked) }
        if sender == account.jid || sender.description == account.jid.domain { return true }
        return try isThisSession(sender)
    }

    private func isThisSession(_ sender: JID) throws -> Bool {
        guard sender.bare == account.jid else { return false }
        return try SessionRow.load(account.id, from: database).jid.map { JID.received($0) == sender } ?? false
    }
}
