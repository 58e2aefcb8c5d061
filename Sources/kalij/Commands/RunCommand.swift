import Glibc
import KalijAddress
import KalijClient
import KalijTransport

enum RunCommand: Command {
    static let name = "run"
    static let usage = "[--history-days N] [--since NUMBER]"
    static let summary = "stay online, print what happens"
    static let details = """
        Keeps all stored accounts online and prints messages as they are stored, until told to stop (SIGTERM, SIGINT), or
        until nobody reads the output. `kalij run` may also be killed: the next process goes on from there, and nothing is
        lost or stored twice. Before a freeze (SIGTSTP), `kalij run` lets everything go and stops; when continued, it takes
        over again. While the disk is full, it waits for room. Times are local, with a line for the date once a day; --utc and
        --json print UTC.

        Debian's package has a unit for systemd, which keeps your accounts online and prints no messages: `systemctl --user enable
        --now kalij` starts it, `loginctl enable-linger` keeps it running after you log out.

        With --json every event is a line on standard output: {"event": ..., "account": ..., "at": ...} with the event's own
        keys; `message`, `state` and `unsettled` carry a message as in `kalij history --json`, and a `number` that only grows.
        Commands are lines of JSON on standard input, answered with an event `accepted` or `error` with the command's `id`:
          {"command": "send", "to": "romeo@example.org", "body": "Hi", "account": "juliet@example.org",
           "id": 1}
          {"command": "stop"}
        `send` takes a `reply`, the message to be answered, or a `file`, the path of a file that the `body` follows; `keep_metadata`
        and `plain` as on the command line. The events `upload` and `download` tell how far files are. Other commands that change something are named as on the command
        line; the event `done` with their `origin_id` gives the outcome. A `message` is an `id`, or an `origin_id`:
          {"command": "correct", "message": 17, "body": "Hello"}
          {"command": "react", "message": 17, "emoji": ["👍"]}
          {"command": "retract", "message": 17}
          {"command": "forget", "message": 17}; so `resend`
          {"command": "download", "message": 17}; so `cancel_download`; `clear_downloads` has no `message`
          {"command": "cancel_upload", "upload": "..."}; so `pause_upload`, `retry_upload`: the `origin_id`
          {"command": "read", "conversation": "romeo@example.org", "through": 17}
          {"command": "typing", "conversation": "romeo@example.org", "state": "composing"}
          {"command": "draft", "conversation": "romeo@example.org", "body": "Wherefore", "reply": 17}
          {"command": "correction_draft", "message": 17, "body": "Hell"}, which `correct` ends
          {"command": "settings", "conversation": "romeo@example.org", "receipts": false, "notify": "none"}
          {"command": "add", "contact": "romeo@example.org", "name": "Romeo", "groups": ["Friends"]}
          {"command": "remove", "contact": "romeo@example.org"}; so `accept`, `deny`
          {"command": "block", "address": "tybalt@example.com", "report": "spam"}; so `unblock`
          {"command": "lookup", "contact": "romeo@example.org"}; the event `profile` has the answer
          {"command": "profile", "name": "Juliet", "avatar": "iVBORw0K...",
           "vcard": {"FN": "Juliet Capulet", "URL": ""}}
        `avatar` is a picture in base64. An empty text removes a draft, a name, a picture or an element of the vCard.
        `account` may be left out if there is only one account, `id` always: any JSON value of at most 1000 values, with numbers of at most 38 digits, given back with the answer. The calling program has to read the output: for a
        full pipe `kalij run` waits, and the account waits, too.

        With --since NUMBER, first prints the events after that number, from any process, and goes on with present events,
        without a gap and without duplicates. A program that stores the number of the last event it has handled misses none,
        whichever process is killed. Events are kept for 30 days, and the newest 10,000 in any case; if some of the wanted
        events are no longer kept, the exit status is 65. `kalij status --json` has the last number as `last_event`; 0 comes
        before all events.
        A command `send` may bring its own id of at most 256 bytes as `origin_id`: made, for example, from the `id` of the
        answered message. A second command with the same id sends nothing: the answer is the message in its present state. So
        a program that may be killed before storing the number sends its answers again.

        example:
          kalij --json run --since 0 <commands >events
        """
    static let options: [Arguments.Option] = [
        .value("--history-days", "N", "first read so many days of an archive, instead of `login`'s number"),
        .value("--since", "NUMBER", "first print the events after this number; needs --json"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        var options = Engine.Options()
        options.historyDays = try arguments.integer("--history-days", in: 0...Int(AccountTable.longestHistory))
        let since = try arguments.integer("--since")
        guard since == nil || shared.json else { throw Failure(.usage, "--since needs --json") }
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let output = EventOutput(
            EventPrinter(json: shared.json, verbose: shared.verbose, clock: shared.clock), shared.directory,
            since: since.map(Int64.init))
        // Prints the events so far, before this process has to respond to others.
        SignalDisposition.endsAtOnce()
        output.printStored()
        if output.failure == nil { try drive(shared, options, output) }
        switch output.failure {
        case let error as EventLogError: throw Failure(.badInput, "--since: \(error)")
        // The reader, such as `head`, has closed its end.
        case is OutputClosed, nil: return .done
        case let error?: throw error
        }
    }

    private static func drive(_ shared: SharedOptions, _ options: Engine.Options, _ output: EventOutput) throws {
        let commands = shared.json ? CommandInput(output, shared.directory) : nil
        var engines = 0
        _ = try Engine.drive(
            shared.directory, options: options, onEvent: { output.print($0) },
            begins: { SignalDisposition.endsAtOnce() },
            blocked: { blocked in
                if !blocked.isTold {
                    let seconds = Int(blocked.retryIn.rounded(.up))
                    Output.error("cannot store: \(blocked.reason); trying again in \(seconds) s")
                }
                usleep(UInt32(blocked.retryIn * 1_000_000))  // fits: half a minute at most
                return output.failure == nil
            },
            frozen: {
                commands?.detach()
                raise(SIGSTOP)
                return true
            },
            began: { engine in
                engines += 1
                // This process was frozen, and another process may have driven in the meantime.
                if shared.verbose, engines > 1 { Output.notice("driving again") }
                try watchSignals(engine)
                commands?.attach(engine)
                output.attach(engine)
            })
        commands?.detach()
    }

    private static func watchSignals(_ engine: Engine) throws {
        try engine.loop.watchSignals([SIGTERM, SIGINT, SIGTSTP, SIGCONT]) { [weak engine] signal in
            switch signal {
            case SIGTSTP: engine?.prepareForFreeze()
            case SIGCONT: engine?.didThaw()
            default: engine?.stop()
            }
        }
    }
}
