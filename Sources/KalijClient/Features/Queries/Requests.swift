import KalijAddress
import KalijStore
import KalijStream
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// IQ requests of the engine itself, whose answers may reach another process than the one that asked.
struct Requests {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    enum Kind: String {
        /// The features of the account's own address.
        case features
        /// A page of the account's archive.
        case page
    }

    /// Asks the account itself, that is, its server on its behalf (RFC 6120 10.3.3).
    func ask(_ kind: Kind, type: String, _ payload: Element) throws {
        // An id that nobody can guess, so that nobody else can answer (RFC 6120 8.1.3).
        let id = UUID().uuidString.lowercased()
        let iq = Element("iq", xmlns: "jabber:client", attributes: ["type": type, "id": id], children: [payload])
        try database.run(
            "INSERT INTO request VALUES (?, ?, '', ?)", [account, .text(id), .text(kind.rawValue)])
        try step.send(iq, request: id)
        step.awaitAnswer()
    }

    /// Whether an answer is awaited.
    func isWaiting() throws -> Bool {
        try !kinds().isEmpty
    }

    /// No longer takes answers of this kind.
    func forget(_ kind: Kind) throws {
        try database.run("DELETE FROM request WHERE account = ? AND kind = ?", [account, .text(kind.rawValue)])
    }

    /// Forgets what waits in a session that goes on, to be asked anew: an answer may have been dropped with the
    /// connection. Requests that the server has not counted are not sent again.
    func dropAll() throws -> Set<Kind> {
        let kinds = try self.kinds()
        try database.run("DELETE FROM queue WHERE account = ? AND request IS NOT NULL", [account])
        try invalidateAll()
        return kinds
    }

    /// What is awaited.
    func kinds() throws -> Set<Kind> {
        let names = try database.statement("SELECT kind FROM request WHERE account = ?").all([account]) { $0.text(0) }
        return Set(names.compactMap(Kind.init))
    }

    /// What an answer answers, taken from the list of what waits; nil if it is none of ours.
    func answered(by iq: Element) throws -> Kind? {
        guard let id = iq["id"], isFromAccount(iq["from"]) else { return nil }
        let kind = try database.statement(
            "DELETE FROM request WHERE account = ? AND id = ? AND responder = '' RETURNING kind"
        ).first([account, .text(id)]) { $0.text(0) }
        return kind.flatMap(Kind.init)
    }

    /// Forgets what waited in a session that is lost, or for too long; an answer that still comes is dropped.
    func invalidateAll() throws {
        try database.run("DELETE FROM request WHERE account = ?", [account])
    }

    /// The account itself answers without `from`, or with its bare or full address (RFC 6120 8.1.2.1, 10.3.3).
    private func isFromAccount(_ from: String?) -> Bool {
        guard let from else { return true }
        return JID.received(from).bare == step.account.jid
    }
}
