import KalijCore
import KalijHandlers
import KalijStore
import KalijStream
import KalijXML

/// Service discovery in both directions: the features of other entities, and of this client.
enum DiscoveryFeature: Feature, SessionObserver, PresenceObserver, RequestResponder {
    package static let name = "discovery"

    static var announced: [String] {
        ["http://jabber.org/protocol/caps", DiscoveryInfo.namespace, DiscoveryItem.namespace, "urn:xmpp:caps"]
    }

    package static let migrations: [Migration] = [
        Migration(
            "discovery/1", version: 1,
            """
            -- What entities with the same hash say of themselves (XEP-0115, XEP-0390), verified; for all accounts.
            CREATE TABLE capability(
                id INTEGER PRIMARY KEY,
                hash TEXT NOT NULL UNIQUE,      -- with its kind and algorithm
                info BLOB NOT NULL,             -- the <query/>
                used_at INTEGER NOT NULL);      -- to the day
            CREATE INDEX capability_use ON capability(used_at);

            -- Who said what of itself in the present session: those whose presence tells a hash, and those who were asked.
            CREATE TABLE entity(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,
                hash TEXT NOT NULL,             -- '' if there is none
                node TEXT NOT NULL,             -- what to ask it about
                state INTEGER NOT NULL,         -- 0: to be asked; 1: asked; 2: known by its hash; 3: spoke for itself; 4: given up
                asked_at INTEGER NOT NULL DEFAULT 0,
                info BLOB);                     -- what it said of itself, where no hash verifies it
            CREATE UNIQUE INDEX entity_jid ON entity(account, jid);
            CREATE INDEX entity_hash ON entity(hash, account);
            CREATE INDEX entity_open ON entity(account, state) WHERE state < 2;
            CREATE INDEX entity_own_word ON entity(account, id) WHERE info IS NOT NULL;
            """)
    ]

    package static var handlers: [any Handler<Step>.Type] {
        [
            CapabilitiesResponse.self, ServerInfoResponse.self, AccountInfoResponse.self, DiscoInfoResponse.self,
            CachedDiscoInfoDelivery.self,
            DiscoItemsResponse.self,
        ]
    }

    package static func didLoseSession(in step: Step) throws {
        try Entities(step: step).removeAll()
        try ServerFeatures(step: step).sessionLost()
    }

    package static func didBindSession(in step: Step) throws { try ServerFeatures(step: step).sendQueries() }

    package static func didResumeSession(in step: Step) throws { try ServerFeatures(step: step).resendQuery() }

    package static func didReceivePresence(_ presence: Element, in step: Step) throws {
        try Announcements(step: step).received(presence)
    }

    package static func respond(to request: Element, in step: Step) throws -> RequestAnswer? {
        let query = request.child("query", DiscoveryInfo.namespace) ?? request.child("query", DiscoveryItem.namespace)
        guard request["type"] == "get", let query else { return nil }
        return step.features.capabilities.answer(query).map { .result($0) } ?? .error(.itemNotFound)
    }
}
