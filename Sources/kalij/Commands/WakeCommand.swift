import Glibc
import KalijClient
import KalijCoordination
import KalijTransport

enum WakeCommand: Command {
    static let name = "wake"
    static let usage = "[--budget SECONDS] [--listen SOCKET]"
    static let summary = "fetch new messages, print the notifications, end"
    static let details = """
        The program for a push to start: goes online, handles everything that your servers have, prints the user's
        notifications, and ends when everything is read and no push has come for 1.5 seconds. Prints nothing if there is
        nothing. If another `wake` or `run` drives, that process is told of the push, and this process ends; without an answer
        within five seconds, this process takes over. A run never takes longer than the budget: the next run fetches the rest,
        and the notification `reopen` says that there is more, with exit status 75.

        With --json each line is
          {"event":"notification","kind":"show","account":"juliet@example.org",
           "conversation":"romeo@example.org","sender":"romeo@example.org/orchard","body":"Hi",
           "identifier":"7","at":"..."}
        `kind` is `show`, `withdraw` (read on another device; with the identifier of the shown notification) or `reopen`. A
        notification can come twice with the same identifier: the second replaces the first. A notification counts as shown
        when the reader of standard output has taken the line. A notification that could not be shown (nobody reads, the disk
        is full) is shown by the next `wake`; the exit status is 75 then, too.

        With --listen, waits, and starts such a run for each connection to the Unix socket SOCKET: each connection is a push.
        A file already there is left alone, except the socket of an ended process of the same user.
        """
    static let options: [Arguments.Option] = [
        .value("--budget", "SECONDS", "take at most so long, 5 to 3600 (default: 25)"),
        .value("--listen", "SOCKET", "start a run for each connection to this socket"),
    ]

    /// The maximum time from exec to here, and from the last signal to the end, in seconds.
    private static let start = 0.2

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let budget = try arguments.integer("--budget", in: 5...3600) ?? 25
        if let path = arguments.value("--listen") {
            try PushSocket(path, [CommandLine.arguments[0]] + commandLine(budget, shared)).serve()
        }
        // Even during a wait for name resolution or a disk: terminating at any point is harmless, exceeding the budget is not.
        ExitMessage.prepare(NotificationPrinter(json: shared.json).reopening.description)
        signal(SIGALRM) { _ in
            ExitMessage.emit()
            _exit(ExitStatus.temporaryFailure.rawValue)
        }
        awaitEnd(budget)
        let printer = NotificationPrinter(json: shared.json)
        do {
            guard try fetch(budget, shared, printer) == .unfinished else { return .done }
            printer.reopen()
            return .temporaryFailure
        } catch {
            // The disk is full, for example.
            if Failure(error).status == .temporaryFailure { printer.reopen() }
            throw error
        }
    }

    /// Schedules SIGALRM so early that the process has terminated at the end of the budget.
    private static func awaitEnd(_ budget: Int) {
        let last = timeval(tv_sec: budget - 1, tv_usec: Int(1_000_000 * (1 - start)))
        var timer = itimerval(it_interval: timeval(), it_value: last)
        setitimer(Int32(ITIMER_REAL.rawValue), &timer, nil)  // fits: zero
    }

    private static func commandLine(_ budget: Int, _ shared: SharedOptions) -> [String] {
        // All options are passed explicitly, including those of the configuration file.
        ["--config", "/dev/null", "--data", shared.directory.path] + (shared.json ? ["--json"] : [])
            + (shared.verbose ? ["-v"] : []) + [name, "--budget", "\(budget)"]
    }

    private static func fetch(
        _ budget: Int, _ shared: SharedOptions, _ printer: NotificationPrinter
    ) throws -> Engine.Ending {
        let events = EventPrinter(json: false, verbose: shared.verbose, clock: shared.clock)
        var options = Engine.Options(role: .wake, budget: Double(budget) - start)
        options.stopsOnSignals = true
        options.onRenewal = { awaitEnd(budget) }
        var isTold = false
        options.onNotification = { notification in
            do { try printer.print(notification) } catch {
                if !isTold { Output.error("\(Failure(error).message); the next `wake` shows the rest") }
                isTold = true
                throw error
            }
        }
        return try Engine.drive(
            shared.directory, options: options, onEvent: { if shared.verbose { events.printNotice($0) } },
            begins: { SignalDisposition.endsAtOnce() })
    }
}
