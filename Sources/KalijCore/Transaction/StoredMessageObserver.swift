import KalijAddress

/// A feature that acts on stored messages: on new rows, and on changes of rows.
public protocol StoredMessageObserver: Feature {
    /// A message was received and stored in a new row; nothing is emitted yet. A feature that changes the row changes `message`,
    /// too.
    static func didInsert(_ message: inout Message, from incoming: IncomingMessage, in step: Step) throws

    /// A message was received and stored in a new row; perhaps it is not shown (``IncomingMessage/isShown``).
    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws

    /// A received message is a line of its conversation from now on. Called once for most messages, in the step that stores
    /// the message; for a correction whose original never arrives, perhaps later.
    static func didShow(_ message: Message, from incoming: IncomingMessage, in step: Step) throws

    /// The draft of the conversation with `recipient` was accepted as a message of the user's.
    static func didAcceptDraft(for recipient: JID, in step: Step) throws

    /// The message in `row` has another place in the order of messages, or has got the id of a room's archive.
    static func didReorder(_ row: Int64, in step: Step) throws

    /// A message of the user's has another state, or its outcome is unknown from now on. Not called when a message that is not shown
    /// is sent.
    static func didChangeState(_ message: Message, in step: Step) throws

    /// The account's server has acknowledged the user's message in the row `message`; again, if the message was sent again.
    static func didAcknowledge(_ message: Int64, in step: Step) throws

    /// The text of the message in `row` was `old` and is `text` from now on; `text` is nil if the message lost its
    /// text, or was removed. Not called for a message that is stored with its text.
    static func didChangeBody(of row: Int64, from old: String?, to text: String?, in step: Step) throws
}

extension StoredMessageObserver {
    public static func didInsert(_ message: inout Message, from incoming: IncomingMessage, in step: Step) throws {}
    public static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {}
    public static func didShow(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {}
    public static func didAcceptDraft(for recipient: JID, in step: Step) throws {}
    public static func didReorder(_ row: Int64, in step: Step) throws {}
    public static func didChangeState(_ message: Message, in step: Step) throws {}
    public static func didAcknowledge(_ message: Int64, in step: Step) throws {}
    public static func didChangeBody(of row: Int64, from old: String?, to text: String?, in step: Step) throws {}
}
