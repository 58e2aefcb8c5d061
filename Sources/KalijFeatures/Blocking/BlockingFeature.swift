import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

/// Blocking (XEP-0191) and spam reporting (XEP-0377).
enum BlockingFeature: Feature, SessionObserver, RequestResponder {
    static let name = "blocking"
    static let namespace = "urn:xmpp:blocking"
    static let reporting = "urn:xmpp:reporting:1"

    static let migrations = [
        Migration(
            "blocking/1",
            """
            -- Blocked addresses: of a person, a client or a server.
            CREATE TABLE blocked(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,
                PRIMARY KEY (account, jid)) WITHOUT ROWID;
            -- What the server said last of its abilities.
            CREATE TABLE blocklist(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                offered INTEGER NOT NULL,       -- whether it blocks
                reports INTEGER NOT NULL);      -- whether it takes reports
            """),
        Migration(
            "blocking/2",
            """
            ALTER TABLE session ADD COLUMN blocking INTEGER NOT NULL DEFAULT 0; -- whether any address is blocked
            UPDATE session SET blocking = EXISTS (SELECT 1 FROM blocked b WHERE b.account = session.account);
            """),
    ]

    static var handlers: [any Handler<Step>.Type] { [BlocklistResponse.self, BlockRequest.self] }
    static var events: [any EventContent.Type] { [BlockedChanged.self] }
    static var intents: [any Intent.Type] { [Block.self, Unblock.self] }

    static func didLoseSession(in step: Step) throws {
        try Requests(step: step).forget(BlocklistResponse.name, unqueueing: true)
    }

    static func didDiscover(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {
        guard entity == .server, case .known(let info) = answer else { return }
        try Blocklist(step: step).didDiscover(
            isOffered: info.supports(namespace), takesReports: info.supports(reporting))
    }

    static func respond(to request: Element, in step: Step) throws -> RequestAnswer? {
        try Blocklist(step: step).push(request) ? .result(nil) : nil
    }
}
