import KalijStore

/// Numbered events about messages.
package enum EventsFeature: Feature {
    package static let name = "events"

    package static let migrations: [Migration] = [
        Migration(
            "events/1", version: 2,
            """
            CREATE TABLE event(
                -- Never given twice: readers know what they have by the last one. The row with the highest one is never deleted,
                -- which costs a page less in each commit than AUTOINCREMENT.
                number INTEGER PRIMARY KEY,
                account INTEGER REFERENCES account(id) ON DELETE SET NULL, -- NULL: there is nothing to tell, or no longer
                at INTEGER NOT NULL,
                kind TEXT NOT NULL,             -- 'message', 'unsettled', or the state that the message came to
                message INTEGER NOT NULL);
            -- The last event that is kept no longer.
            CREATE TABLE event_forgotten(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
            INSERT INTO event_forgotten VALUES (1, 0);
            """)
    ]

    package static var events: [any EventContent.Type] {
        [MessageStored.self, MessageStateChanged.self, MessageUnsettled.self]
    }

    package static func event(_ kind: String, of message: Message) -> (any MessageEvent)? {
        if let state = MessageState(rawValue: kind) { return MessageStateChanged(message.inState(state)) }
        return switch kind {
        case MessageStored.name: MessageStored(message)
        case MessageUnsettled.name: MessageUnsettled(message.inState(.sent, isSettled: false))
        default: nil
        }
    }
}
