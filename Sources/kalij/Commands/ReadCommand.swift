import KalijAddress
import KalijClient

enum ReadCommand: Command {
    static let name = "read"
    static let usage = "JID [--through ID] [--wait | --queue-only] [--account JID]"
    static let summary = "say that a conversation was read"
    static let details = """
        The messages of the conversation with JID up to now, or up to the message ID, are read: no longer unread here, nor on the
        account's other devices (XEP-0490). A contact that asked for it, or a group of at most 100 members, learns that the newest
        of them was displayed (XEP-0333), unless `kalij settings` says otherwise. ID is a message's `id` or `origin_id` of `kalij history --json`.

        \(IntentRunner.details)

        example:
          kalij read romeo@example.net
        """
    static let options = [Arguments.Option.value("--through", "ID", "only up to this message")] + IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        let jid = try JID(arguments.operands[0])
        let account = try arguments.value("--account").map { try JID($0) }
        // The position is determined now: messages that arrive before the intent is performed are not marked as read.
        let newest = try Conversations(shared.directory, of: account).messages(with: jid, limit: 1).last
        guard let place = arguments.value("--through").map({ MessageReference($0) }) ?? newest.map({ .row($0.id) })
        else { throw Failure(.nothing, "there are no messages with \(jid.bare)") }
        return try IntentRunner(arguments, shared).run(MarkRead(jid, through: place))
    }
}
