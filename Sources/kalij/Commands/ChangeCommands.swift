import KalijClient

/// How the help describes the ids of messages.
private let naming = """
    ID is the `id` of the message in `kalij history --json`, or the sender's id (`origin_id`).
    """

enum CorrectCommand: Command {
    static let name = "correct"
    static let usage = "ID TEXT [--wait | --queue-only] [--account JID]"
    static let summary = "replace the text of a message of yours"
    static let details = """
        Replaces the text of a message that you have sent, from whatever device (XEP-0308). \(naming)
        The recipient's client shows the new text, if it knows corrections; others show a second message.

        \(IntentRunner.details)

        example:
          kalij correct 17 "Wherefore art thou Romeo?"
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(2...2)
        return try IntentRunner(arguments, shared).run(
            Correct(MessageReference(arguments.operands[0]), body: arguments.operands[1]))
    }
}

enum RetractCommand: Command {
    static let name = "retract"
    static let usage = "ID [--wait | --queue-only] [--account JID]"
    static let summary = "retract a message of yours for all"
    static let details = """
        Asks all clients to remove the text of a message that you have sent (XEP-0424), and removes the text here. Nobody can
        make a recipient forget: clients that do not know retractions keep the text. \(naming)

        \(IntentRunner.details)

        example:
          kalij retract 17
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        return try IntentRunner(arguments, shared).run(Retract(MessageReference(arguments.operands[0])))
    }
}

enum ReactCommand: Command {
    static let name = "react"
    static let usage = "ID [EMOJI...] [--wait | --queue-only] [--account JID]"
    static let summary = "set your reactions to a message"
    static let details = """
        Sets your reactions to a message (XEP-0444): the given emoji replace all earlier ones; without EMOJI, there are none
        any more. Each EMOJI is a single emoji, and at most 20 are allowed. In an encrypted conversation only devices with OMEMO 2
        get reactions (`kalij omemo version2 on`). \(naming)

        \(IntentRunner.details)

        examples:
          kalij react 17 👍 🌹
          kalij react 17
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...Int.max - 1)
        return try IntentRunner(arguments, shared).run(
            React(MessageReference(arguments.operands[0]), Array(arguments.operands.dropFirst())))
    }
}

enum ForgetCommand: Command {
    static let name = "forget"
    static let usage = "ID [--wait | --queue-only] [--account JID]"
    static let summary = "remove a message here, and only here"
    static let details = """
        Removes a message from this directory. The archive and your other devices keep the message; reading the archive again
        does not bring the message back. \(naming)

        \(IntentRunner.details)

        example:
          kalij forget 17
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        return try IntentRunner(arguments, shared).run(Forget(MessageReference(arguments.operands[0])))
    }
}

enum ResendCommand: Command {
    static let name = "resend"
    static let usage = "ID [--plain] [--wait | --queue-only] [--account JID]"
    static let summary = "send a message of yours again that was not sent"
    static let details = """
        Sends a text again that has failed, or whose outcome is unknown, under its own id and in its place. A recipient who has
        it already may see it twice, if his client does not compare ids. \(naming)
        A text that was encrypted stays encrypted, unless `--plain` is given. A file is sent again by `kalij uploads retry`.

        \(IntentRunner.details)

        example:
          kalij resend 17
        """
    static let options =
        IntentRunner.options + [.flag("--plain", "do not encrypt the text, even if it was encrypted before")]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        return try IntentRunner(arguments, shared).run(
            Resend(MessageReference(arguments.operands[0]), isPlain: arguments.has("--plain")))
    }
}
