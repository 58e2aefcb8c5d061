import KalijAddress
import KalijStore
import KalijText

/// The addresses from which an answer counts.
///
/// A response belongs to a request by its id and its sender. The sender's server writes `from` (RFC 6120 8.1.2.1, rule 1; between
/// servers 8.1.2.2), so nobody can forge a sender. A response counts if `from` is the address to which the request was sent,
/// compared as a whole.
///
/// Only for the account itself there are several ways to write the sender, all from the account's own server:
/// - no `from` at all: the stanza "is from the user's account on the server" (8.1.2.1, rule 4);
/// - the account's bare address (rule 3);
/// - the full address of this very session, as RFC 3920 9.1.2 allowed, and as jabberd2 writes;
/// - the server's own name, as older servers write. Nobody else can: the name is not an address of a client.
///
/// Another client of the same account is none of these: the client has a resource of its own.
package struct ReplyAuthenticator {
    private let account: Account
    private let database: Database

    package init(_ step: Step) { (account, database) = (step.account, step.database) }

    /// The stored form of the responder: empty for the account itself. A request without `to` is addressed to the account's bare
    /// address (RFC 6120 10.3.3).
    package func key(_ responder: JID?) -> String {
        guard let responder, responder != account.jid else { return "" }
        return responder.description
    }

    /// Whether a stanza with this `from` may be the answer from the responder stored as `asked`.
    package func mayAnswer(_ from: String?, for asked: String) throws -> Bool {
        // A server that answers for itself has to write its name (8.1.2.1, rule 2); RFC 3920 9.1.2 did not require the
        // name. Nobody else may leave `from` out.
        guard let from else { return asked.isEmpty || asked.exact == account.jid.domain.exact }
        let sender = JID.received(from)
        if !asked.isEmpty { return sender == JID.received(asked) }
        if sender == account.jid || sender.description.exact == account.jid.domain.exact { return true }
        return try isThisSession(sender)
    }

    private func isThisSession(_ sender: JID) throws -> Bool {
        guard sender.bare == account.jid else { return false }
        return try SessionRow.load(account.id, from: database).jid.map { JID.received($0) == sender } ?? false
    }
}
