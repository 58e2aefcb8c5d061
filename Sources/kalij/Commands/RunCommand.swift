import Glibc
import KalijAddress
import KalijClient
import KalijTransport

enum RunCommand: Command {
    static let name = "run"
    static let usage = "[--history-days N]"
    static let summary = "stay online, print what happens"
    static let details = """
        Keeps all stored accounts online and prints messages as they are stored, until it is told to stop (SIGTERM,
        SIGINT). It may also be killed: the next one goes on where it was, nothing is lost or stored twice. Told that it is
        about to be frozen (SIGTSTP), it lets everything go and stops; continued, it takes over again.

        With --json every event is a line on standard output: {"event": ..., "account": ..., "at": ...} and what belongs
        to it; `message` and `state` carry a message as `kalij history --json` prints it. Commands are taken as lines of
        JSON on standard input, and answered with an event `accepted` or `error` that carries the command's `id`:
          {"command": "send", "to": "romeo@example.org", "body": "Hi", "account": "juliet@example.org", "id": 1}
          {"command": "stop"}
        `account` may be left out if there is only one, `id` always. Whoever starts it has to read what it prints: it waits
        for a full pipe, and with it the account.
        """
    static let options: [Arguments.Option] = [
        .value("--history-days", "N", "how far the first reading of an archive looks back, whatever `login` said")
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        var options = Engine.Options()
        options.historyDays = try arguments.integer("--history-days", in: 0...Int(AccountTable.longestHistory))
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let printer = EventPrinter(json: shared.json, verbose: shared.verbose)
        var commands: CommandInput?
        var engines = 0
        defer { commands?.stop() }
        _ = try Engine.drive(
            shared.directory, options: options, onEvent: { printer.print($0) }, begins: { Interruption.endsAtOnce() },
            frozen: {
                commands?.stop()
                raise(SIGSTOP)
                return true
            },
            began: { engine in
                engines += 1
                // It was frozen, and perhaps another process went on.
                if shared.verbose, engines > 1 { Output.note("driving again") }
                try watchSignals(engine)
                commands?.stop()
                commands = shared.json ? try CommandInput(engine) : nil
            })
        return .done
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
