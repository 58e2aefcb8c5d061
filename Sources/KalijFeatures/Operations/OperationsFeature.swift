import KalijCore
import KalijStore
import KalijXML

/// Messages that change other messages: corrections (XEP-0308), retractions (XEP-0424), reactions (XEP-0444); and replies (XEP-0461).
///
/// The displayed state of a message is a function of the set of stored messages, independent of the order in which they were received.
enum OperationsFeature: Feature, MessageProcessor, StoredMessageObserver {
    static let name = "operations"
    static let announced = [
        MessageOperation.correction, MessageOperation.retraction, MessageOperation.reactions, Reply.namespace,
        Fallback.namespace,
    ]
    static let migrations = [
        Migration(
            "operations/1",
            """
            -- Messages that change other messages.
            CREATE TABLE operation(
                message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE, -- its own row
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                kind TEXT NOT NULL,             -- 'correction', 'retraction', 'reaction'
                author TEXT NOT NULL,           -- a bare address
                reference TEXT NOT NULL,        -- the id that names the changed message
                content TEXT,                   -- the new text, or the emoji, one a line
                target INTEGER);                -- the row of the changed message; NULL: not known, or not yet
            CREATE INDEX operation_reference ON operation(account, conversation, reference);
            CREATE INDEX operation_target ON operation(target) WHERE target IS NOT NULL;
            CREATE INDEX operation_waiting ON operation(account, conversation, author, message) WHERE target IS NULL;
            -- The first texts of corrected messages.
            CREATE TABLE original(message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE, body TEXT NOT NULL);
            """)
    ]
    static var intents: [any Intent.Type] { [Correct.self, Retract.self, React.self, Forget.self] }
    static var events: [any EventContent.Type] { [MessageChanged.self] }

    static func event(_ kind: String, of message: Message) -> (any MessageEvent)? {
        kind == MessageChanged.name ? MessageChanged(message) : nil
    }

    static func process(_ message: inout IncomingMessage, in step: Step) throws {
        // An unencrypted operation beside an encrypted text does not change the text.
        if message.encryption.map({ $0.coversTextAlone && $0.problem == nil }) ?? false,
            MessageOperation.isMeant(by: message.element),
            !MessageOperation.isProven(by: message.body, in: message.element)
        {
            message.element = MessageOperation.removed(from: message.element)
        }
        if MessageOperation.isMeant(by: message.element) { message.isShown = false }
        // A room sends messages only to its occupants.
        guard message.isKept || message.type != "groupchat" else { return }
        if message.encryption?.problem == nil, MessageOperation(message.element) != nil {
            (message.isShown, message.isKept, message.isNeeded) = (false, true, true)
        }
        message.repliesTo = Reply(message.element)?.id
    }

    /// Applies operations that have waited for the message.
    static func didInsert(_ message: inout Message, from incoming: IncomingMessage, in step: Step) throws {
        // Nothing waits, and nothing is inserted for a message that is shown.
        if incoming.isShown, try OperationRows(database: step.database).isKnownEmpty { return }
        var operations = MessageOperations(step: step)
        operations.unannounced = message.id
        if !incoming.isShown, message.encryption?.problem == nil,
            let operation = MessageOperation(incoming.element, body: incoming.body)
        {
            try operations.insert(operation, of: message)
        }
        let names = [incoming.messageID, incoming.originID, incoming.stanzaID]
        guard try operations.found(names, in: message.conversation) else { return }
        message = try Message.load(message.id, from: step.database)?.withReactions(in: step.database) ?? message
    }

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        if !message.isShown { try MessageOperations(step: step).stored(message, from: incoming) }
    }

    static func didReorder(_ row: Int64, in step: Step) throws { try MessageOperations(step: step).moved(row) }

    /// A rejected operation has no effect (XEP-0444 section 3.3).
    static func didChangeState(_ message: Message, in step: Step) throws {
        if !message.isShown, message.state != .sent { try MessageOperations(step: step).stateChanged(message) }
    }
}
