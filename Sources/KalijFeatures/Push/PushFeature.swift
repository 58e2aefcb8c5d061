import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore

/// Push (XEP-0357): the server notifies a push service of events for an account without a connection.
enum PushFeature: Feature, SessionObserver, AccountObserver {
    static let name = "push"
    static let migrations = [
        Migration(
            "push/1",
            """
            -- Where the server publishes; at most a row for each account.
            CREATE TABLE push(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                stage TEXT NOT NULL,            -- 'off', 'waiting', 'disabling', 'enabling', 'enabled', 'refused'
                wanted_service TEXT,            -- what the user wants: the address of the push service,
                wanted_node TEXT,               -- the node there,
                wanted_module TEXT,             -- and the service's options
                wanted_key TEXT,
                known_service TEXT,             -- what the server may hold
                known_node TEXT,
                known_module TEXT,
                known_key TEXT,
                attempts INTEGER NOT NULL,      -- how often the question of the stage was asked
                asked INTEGER NOT NULL,         -- how often the server was asked at all
                confirmed_at INTEGER,           -- when the server has confirmed that it publishes
                problem TEXT,                   -- why it does not
                intent TEXT);                   -- the id of the intent that ends with the server's answer
            """)
    ]
    static var handlers: [any Handler<Step>.Type] { [PushEnableResponse.self, PushRetryTimer.self] }
    static var events: [any EventContent.Type] { [PushChanged.self] }
    static var intents: [any Intent.Type] { [EnablePush.self, DisablePush.self] }

    static func status(of account: Account, in database: Database) throws -> [EventField] {
        try PushRow.load(account.id, from: database).map { [EventField(.push, .text($0.state.stage.rawValue))] } ?? []
    }

    static func didLoseSession(in step: Step) throws { try Push(step: step).sessionLost() }
    static func didBindSession(in step: Step) throws { try Push(step: step).handle(.sessionBegan) }
    static func didSendInitialPresence(in step: Step) throws { try Push(step: step).handle(.available) }
    static func isPushed(_ account: Account, in database: Database) throws -> Bool {
        try PushRow.load(account.id, from: database)?.isEnabled ?? false
    }

    static func prepareLogout(in step: Step) throws -> [String] { try Push(step: step).leave() }
    static func didLogOut(in step: Step) throws { try Push(step: step).forget() }
}
