import Glibc
import KalijAddress
import KalijClient
import KalijRoles
import KalijTransport

enum SendCommand: Command {
    static let name = "send"
    static let usage = "TO [TEXT] [--account JID] [--id ID] [--queue-only | --confirm]"
    static let summary = "accept a message and see that it is sent"
    static let details = """
        Accepts a chat message, without waiting for any process: with exit status 0 it is on the disk and will reach your
        server exactly once, whatever happens to any process; or, if a session is lost and your server has no archive to ask,
        it is reported as of unknown outcome. It must not be given again then. It is sent by the process that drives
        (`kalij run`) or, if none does, by this one, which then stays until it is sent. If your server cannot be reached,
        standard error says why, and the next process that drives sends it. Without TEXT the message is read from standard
        input.

        What is printed is the message as it is in the end: queued, sent, acked (your server has it), or failed with the
        reason. Exit status 65 if it cannot be sent, or was refused while this process was there (by a server that does not
        know the address, for example); what is refused later, `kalij run` and `history` tell.

        With --confirm the exit status says whether your server has it, and a process that drives is waited for, 30 seconds
        at most: 0 if it does, 65 if it was refused; 69 if your server cannot be reached, 77 if it refuses the login, 75 if it
        is not known yet: in these three cases it is accepted all the same, and will be sent.

        With --json the first line is the message as it was accepted, as `kalij history --json` prints it, and a second one
        with the event `state` says what has become of it, if this process knows.

        example:
          kalij send romeo@example.org "Wherefore art thou?"
        """
    static let options: [Arguments.Option] = [
        .value("--account", "JID", "which account sends, if several are stored"),
        .value("--id", "ID", "the message's own id (origin-id): what has it already is not sent again"),
        .flag("--queue-only", "never go online, only accept"),
        .flag("--confirm", "the exit status says whether your server has it"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...2)
        let recipient = try JID(arguments.words[0])
        let sender = try arguments.value("--account").map { try JID($0) }
        let text = try arguments.words.count == 2 ? arguments.words[1] : standardInput()
        guard !arguments.has("--confirm") || !arguments.has("--queue-only") else {
            throw Failure(.usage, "--queue-only never goes online, so there is nothing to --confirm")
        }
        let message = try shared.directory.share(text, to: recipient, from: sender, id: arguments.value("--id"))
        if shared.json { try tell(message, as: "message") }
        guard !arguments.has("--queue-only") else {
            if !shared.json { Output.line(message.line) }
            return .done
        }
        let account = try AccountTable(try shared.directory.read()).account(sender, in: shared.directory)
        let sending = Sending(message, of: account, shared)
        try sending.run(confirming: arguments.has("--confirm"))
        if !shared.json {
            Output.line(sending.message.line)
        } else if sending.message.state != .queued {
            try tell(sending.message, as: "state")
        }
        return status(of: sending, confirming: arguments.has("--confirm"))
    }

    private static func tell(_ message: Message, as event: String) throws {
        Output.line(
            try JSONLine.of(EventRecord(message, event: event, account: message.from, at: Clock.system.now())))
    }

    /// A message without a final state was still accepted: a user who repeats the command sends the message twice.
    private static func status(of sending: Sending, confirming: Bool) -> ExitStatus {
        if sending.message.state == .failed {
            Output.error("refused: \(sending.message.error ?? "without a reason")")
            return .badInput
        }
        guard let failure = sending.failure else { return .done }
        Output.error("accepted, but not sent yet: \(failure.message)")
        Output.note("The next process that is online sends it: `kalij run`, `wake`, `send` or `flush`.")
        return confirming ? failure.status : .done
    }

    private static func standardInput() throws -> String {
        var bytes = try Files.contents(nil, limit: 1 << 20)
        if bytes.last == 0x0A { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badInput, "standard input is not UTF-8")
        }
        return text
    }
}
