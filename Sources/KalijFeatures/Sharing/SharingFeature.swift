import KalijSteps
import KalijStore

/// Takes over whatever other processes leave in the mailbox: messages, and other intents.
enum SharingFeature: Feature, StoredMessageObserver {
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

    static var events: [any EventContent.Type] { [IntentEnded.self] }

    /// The outcome of an intent whose stanza takes the path of messages.
    static func didChangeState(_ message: Message, in step: Step) throws {
        guard !message.isShown, let id = message.originID else { return }
        try Intents(step: step).end(id, message.outcome(of: "change"))
    }
}

extension Message {
    /// The outcome of an intent whose stanza is this message; pending as long as it is not known.
    /// - Parameter thing: what the user wanted to arrive, in words.
    func outcome(of thing: String) -> IntentOutcome {
        switch state {
        case .failed: .failed(error?.description ?? "without a reason")
        case .sent where !isSettled, .acked where !isSettled:
            .failed("the session was lost, and nobody knows whether the \(thing) arrived")
        // A room has taken what it shows; an acknowledgement of the account's server says nothing.
        case .acked where type == "groupchat": .pending
        case .acked, .delivered, .displayed: .done
        case .queued, .sent, nil: .pending
        }
    }
}
