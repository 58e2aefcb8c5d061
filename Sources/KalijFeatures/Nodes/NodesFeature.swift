import KalijHandlers
import KalijCore
import KalijStore

/// The account's own PEP nodes (XEP-0163), for features that store items there.
enum NodesFeature: Feature, SessionObserver {
    static let name = "nodes"
    static let migrations = [
        Migration(
            "nodes/1",
            """
            -- The account's own nodes.
            CREATE TABLE node(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                name TEXT NOT NULL,
                state TEXT NOT NULL,            -- 'asked': being created; 'ready': configured
                PRIMARY KEY (account, name)) WITHOUT ROWID;
            """)
    ]
    static var handlers: [any Handler<Step>.Type] { [NodeCreateResponse.self, NodeConfigureResponse.self] }

    static func didLoseSession(in step: Step) throws {
        try step.database.run(
            "DELETE FROM node WHERE account = ? AND state = ?",
            [.integer(step.account.id), .state(OwnNode.State.asked)])
    }
}
