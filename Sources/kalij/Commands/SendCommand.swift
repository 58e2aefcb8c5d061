import Glibc
import KalijAddress
import KalijClient
import KalijRoles
import KalijTransport

enum SendCommand: Command {
    static let name = "send"
    static let usage = "TO [TEXT] [--account JID] [--id ID] [--queue-only]"
    static let summary = "accept a message and see that it is sent"
    static let details = """
        Accepts a chat message, without waiting for any process: with exit status 0 it is on the disk and will reach your
        server exactly once, whatever happens to any process; or, if a session is lost and your server has no archive to ask, it is reported as of
        unknown outcome. It is sent by the process that drives (`kalij run`) or, if none does, by this one, which
        then stays until it is sent, for at most 30 seconds; what is left then is sent by the next.
        Without TEXT the message is read from standard input. What is printed is the message as it was accepted.

        example:
          kalij send romeo@example.org "Wherefore art thou?"
        """
    static let options: [Arguments.Option] = [
        .value("--account", "JID", "which account sends, if several are stored"),
        .value("--id", "ID", "the message's own id (origin-id): what has it already is not sent again"),
        .flag("--queue-only", "never go online, only accept"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...2)
        let recipient = try JID(arguments.words[0])
        let sender = try arguments.value("--account").map { try JID($0) }
        let text = try arguments.words.count == 2 ? arguments.words[1] : standardInput()
        let message = try shared.directory.share(text, to: recipient, from: sender, id: arguments.value("--id"))
        if shared.json {
            Output.line(try JSONLine.of(MessageRecord(message, account: message.from, at: message.sentAt)))
        } else {
            Output.line(MessageLine.of(message))
        }
        if !arguments.has("--queue-only") { Background.sendWhatIsQueued(shared) }
        return .done
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

/// Goes on as the `background` role, if no other process drives.
enum Background {
    static let budget = 30.0

    /// Sends what is queued; says on standard error what went wrong, because what was accepted stays accepted.
    static func sendWhatIsQueued(_ shared: SharedOptions) {
        for _ in 0..<100 {
            do {
                let printer = EventPrinter(json: false, verbose: shared.verbose)
                let ending = try Engine.drive(
                    shared.directory, options: .init(role: .background, budget: budget),
                    onEvent: { if shared.verbose { printer.print($0) } },
                    began: { engine in
                        try engine.loop.watchSignals([SIGTERM, SIGINT]) { [weak engine] _ in engine?.stop() }
                    })
                guard ending == .handedOver else { return }
                // Another process drives. It may have looked before our commit and listen only since: ring again.
                if Doorbell.bell(directory: shared.directory.path) != nil { return }
                usleep(20_000)  // it is just starting or just ending
            } catch FenceError.held {
                usleep(20_000)  // somebody brings the tables up to date
            } catch {
                return Output.error("accepted, but not sent yet: \(Failure(error).message)")
            }
        }
        Output.error("accepted, but not sent yet: another process holds the data directory and does not answer")
    }
}
