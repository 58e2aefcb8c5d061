import KalijStore

/// Imports what other processes leave in the mailbox: messages, and other intents.
package enum SharingFeature: Feature, StoredMessageObserver {
    package static let name = "sharing"

    package static let migrations: [Migration] = [
        Migration(
            "sharing/1", version: 1,
            """
            -- How far what other processes left in the mailbox was taken over.
            CREATE TABLE shared(id INTEGER PRIMARY KEY CHECK (id = 1), mailbox TEXT NOT NULL, last INTEGER NOT NULL);
            """),
        Migration(
            "sharing/2",
            """
            -- Intents that were performed.
            CREATE TABLE intent(
                number INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                id TEXT NOT NULL,
                name TEXT NOT NULL,
                at INTEGER NOT NULL,
                problem TEXT);                  -- NULL: the outcome is not known yet; '': done; else why the intent has failed
            CREATE UNIQUE INDEX intent_id ON intent(account, id);
            CREATE INDEX intent_number ON intent(account, number);
            """),
    ]

    package static var events: [any EventContent.Type] { [IntentEnded.self] }

    /// Derives the outcome of an intent whose stanza is sent like a message.
    package static func didChangeState(_ message: Message, in step: Step) throws {
        guard !message.isShown, let id = message.originID else { return }
        try Intents(step: step).end(id, message.outcome(of: "change"))
    }
}

extension Message {
    /// The outcome of an intent whose stanza is this message; pending until it is determined.
    /// - Parameter thing: the name of the change, for the reason of a failure.
    package func outcome(of thing: String) -> IntentOutcome {
        switch state {
        case .failed: .failed(error?.description ?? "without a reason")
        case .sent where !isSettled, .acked where !isSettled:
            .failed("the session was lost, and nobody knows whether the \(thing) arrived")
        // In a room the reflection is the confirmation; an acknowledgement of the account's server is not.
        case .acked where type == "groupchat": .pending
        case .acked, .delivered, .displayed: .done
        case .queued, .sent, nil: .pending
        }
    }
}
