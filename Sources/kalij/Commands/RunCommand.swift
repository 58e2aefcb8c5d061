import Glibc
import KalijAddress
import KalijClient
import KalijTransport

enum RunCommand: Command {
    static let name = "run"
    static let usage = "[--history-days N] [--since NUMBER]"
    static let summary = "stay online, print what happens"
    static let details = """
        Keeps all stored accounts online and prints messages as they are stored, until it is told to stop (SIGTERM,
        SIGINT), or nobody reads what it prints any more. It may also be killed: the next one goes on where it was, nothing
        is lost or stored twice. Told that it is about to be frozen (SIGTSTP), it lets everything go and stops; continued, it
        takes over again. While the disk is full it waits for room.

        With --json every event is a line on standard output: {"event": ..., "account": ..., "at": ...} and what belongs
        to it; `message`, `state` and `unsettled` carry a message as `kalij history --json` prints it, and a `number` that
        only grows. Commands are taken as lines of JSON on standard input, and answered with an event `accepted` or `error`
        that carries the command's `id`:
          {"command": "send", "to": "romeo@example.org", "body": "Hi", "account": "juliet@example.org", "id": 1}
          {"command": "stop"}
        `account` may be left out if there is only one, `id` always. Whoever starts it has to read what it prints: it waits
        for a full pipe, and with it the account.

        With --since NUMBER it first prints the events after that number, whatever process they happened in, and then goes
        on with what happens, without a gap and nothing twice. A program that stores the number of the last event that it has
        dealt with misses none, whoever is killed. Events are kept for 30 days, and the newest 10,000 in any case; that some
        are kept no longer is said with exit status 65. `kalij status --json` has the last number as `last_event`; 0 is
        before all.
        A command `send` may bring an id of its own, of at most 256 bytes, as `origin_id`: made from the `id` of the message
        that it answers, for example. A second one with the same id is not sent again: it is answered with the message as it is by
        then. So a program that may be killed before it has stored the number sends its answers again.

        example:
          kalij --json run --since 0 <commands >events
        """
    static let options: [Arguments.Option] = [
        .value("--history-days", "N", "how far the first reading of an archive looks back, whatever `login` said"),
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
            EventPrinter(json: shared.json, verbose: shared.verbose), shared.directory, since: since.map(Int64.init))
        // Prints the events so far, before this process has to answer others.
        Interruption.endsAtOnce()
        output.printStored()
        if output.failure == nil { try drive(shared, options, output) }
        switch output.failure {
        case let error as EventLogError: throw Failure(.badInput, "--since: \(error)")
        // Whoever reads has had enough, such as `head`.
        case is OutputClosed, nil: return .done
        case let error?: throw error
        }
    }

    private static func drive(_ shared: SharedOptions, _ options: Engine.Options, _ output: EventOutput) throws {
        let commands = shared.json ? CommandInput(output) : nil
        var engines = 0
        _ = try Engine.drive(
            shared.directory, options: options, onEvent: { output.print($0) }, begins: { Interruption.endsAtOnce() },
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
                // This process was frozen, and perhaps another process went on.
                if shared.verbose, engines > 1 { Output.note("driving again") }
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
