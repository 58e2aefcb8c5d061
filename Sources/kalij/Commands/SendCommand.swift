import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import KalijTransport

enum SendCommand: Command {
    static let name = "send"
    static let usage =
        "TO [TEXT | -i] [--file PATH] [--reply ID] [--account JID] [--id ID] [--plain] [--queue-only | --confirm]"
    static let summary = "accept a message or a file and make sure that it is sent"
    static let details = """
        Accepts a chat message, without waiting for any process. With exit status 0 the message is on the disk and will reach
        your server exactly once, whatever happens to any process; or, if a session is lost and your server has no archive to
        ask, the message is reported as of unknown outcome. Do not send the message again then. The driving process (`kalij
        run`) sends the message; without one, this process does, and stays until the message is sent. If your server cannot be
        reached, standard error says why, and the next driving process sends the message. Without TEXT the message is read
        from standard input. A TEXT that begins with a hyphen comes after `--`.

        Prints the message in its last state: queued (`kalij run` sends it, or the next process that is online), sent, acked (your
        server has the message), delivered (the recipient's client, or the room, has it), or failed with the reason.
        Exit status 65 if the message cannot be sent, or was refused at once (by a server that does not know the address, for
        example); later refusals appear in `kalij run` and `history`.

        With --confirm the exit status says whether your server has the message, after waiting at most 30 seconds for a driving
        process: 0 if the server has it, 65 if refused; 69 if your server cannot be reached, 77 if the server refuses the
        login, 75 if unknown so far: in these three cases the message is accepted all the same, and will be sent.

        With --file the file as it is now is accepted, and with exit status 0 it is on the disk: PATH may be changed or removed
        afterwards. The file is uploaded to your server (XEP-0363), and its message is sent once the server has the whole file;
        TEXT follows the file. In an encrypted conversation the file is encrypted. EXIF, XMP and comments are removed from JPEG,
        PNG and WebP, but for the orientation; --keep-metadata leaves them. Without a driving process this process uploads, for
        as long as bytes move. `kalij uploads` lists what is on its way, and why. With --json the first line is the event
        `upload` with the `origin_id`, and a second line the event `state` if this process knows the outcome.

        With --json the first line is the accepted message as in `kalij history --json`, and a second line with the event
        `state` gives the outcome, if this process knows.

        With -i each line of standard input is a message, accepted as soon as the line is read, and sent meanwhile. Empty lines
        are left out. Standard error names a line that cannot be sent, and the exit status is 65 in the end. The command ends
        after the last line, or at SIGTERM, as above. With --json there is a line for each message or bad line.

        example:
          tail -f log | kalij send romeo@example.org -i
          kalij send romeo@example.org "Wherefore art thou?"
          kalij send romeo@example.org --file balcony.jpg
        """
    static let options: [Arguments.Option] = [
        .value("--account", "JID", "send from this account, if several are stored"),
        .value("--id", "ID", "set the message's own id (origin-id): a second message with this id is not sent"),
        .value("--file", "PATH", "send this file; TEXT follows it"),
        .flag("-i", "send each line of standard input as a message"),
        .flag("--keep-metadata", "leave EXIF, XMP and comments in a picture"),
        .value("--reply", "ID", "answer this message: its `id` in `kalij history --json`, or the sender's id"),
        .flag("--plain", "do not encrypt the text, also in an encrypted conversation (`kalij help omemo`)"),
        .flag("--queue-only", "only accept the message, never go online"),
        .flag("--confirm", "report in the exit status whether your server has the message"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...2)
        let recipient = try JID(arguments.operands[0])
        let sender = try arguments.value("--account").map { try JID($0) }
        guard !arguments.has("--confirm") || !arguments.has("--queue-only") else {
            throw Failure(.usage, "--queue-only never goes online, so there is nothing to --confirm")
        }
        if recipient.local == nil { Output.notice("\(recipient) is the address of a server, not of a person") }
        if arguments.has("-i") { return try LineSender(arguments, shared, to: recipient).run() }
        if let path = arguments.value("--file") { return try FileSender(arguments, shared).send(path, to: recipient) }
        guard !arguments.has("--keep-metadata") else { throw Failure(.usage, "--keep-metadata needs --file") }
        let text = try arguments.operands.count == 2 ? arguments.operands[1] : standardInput()
        let message = try shared.directory.share(
            text, to: recipient, from: sender, id: arguments.value("--id"),
            answering: arguments.value("--reply").map(MessageReference.init),
            privacy: arguments.has("--plain") ? .plain : .asConversation)
        Output.accepted()
        if shared.json { try emit(message, as: "message") }
        guard !arguments.has("--queue-only") else {
            if !shared.json { Output.line(message.line(shared.clock)) }
            return .done
        }
        let account = try AccountTable(try shared.directory.read()).account(sender, in: shared.directory)
        let sending = MessageSender(message, of: account, shared)
        try sending.run(confirming: arguments.has("--confirm"))
        if !shared.json {
            Output.line(sending.message.line(shared.clock))
        } else if sending.message.state != .queued {
            try emit(sending.message, as: "state")
        }
        return status(of: sending, confirming: arguments.has("--confirm"))
    }

    private static func emit(_ message: Message, as event: String) throws {
        Output.line(
            try JSONLine.of(EventRecord(message, event: event, account: message.from, at: Clock.system.now())))
    }

    /// A message without a final state was accepted all the same: a user who repeats the command sends it twice.
    private static func status(of sending: MessageSender, confirming: Bool) -> ExitStatus {
        if sending.message.state == .failed {
            Output.error("refused: \(sending.message.error?.description ?? "without a reason")")
            return .badInput
        }
        guard let failure = sending.failure else { return .done }
        Output.error("accepted, but not sent yet: \(failure.message)")
        Output.notice("The next process that is online sends it: `kalij run`, `wake`, `send` or `flush`.")
        return confirming ? failure.status : .done
    }

    private static func standardInput() throws -> String {
        if isatty(STDIN_FILENO) == 1 { Output.notice("The message, and Ctrl-D at the beginning of a line:") }
        var bytes = try Files.contents(nil, limit: 1 << 20)
        if bytes.last == 0x0A { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badInput, "standard input is not UTF-8")
        }
        return text
    }
}
