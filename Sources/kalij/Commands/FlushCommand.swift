import KalijClient

enum FlushCommand: Command {
    static let name = "flush"
    static let usage = "[--budget SECONDS]"
    static let summary = "send queued stanzas, then end"
    static let details = """
        Goes online if no other process drives, sends queued stanzas, and ends when your server has all of them; the next
        process sends the rest after the end of the budget. Lets go for any process that asks. If another process drives, that
        process sends, and this process has nothing to do.
        Standard error says which messages were sent, and why some are left: then the exit status is 75, or 69 if your server
        could not be reached.
        """
    static let options: [Arguments.Option] = [
        .value("--budget", "SECONDS", "take at most so long, 5 to 3600 (default: 300)")
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let budget = Double(try arguments.integer("--budget", in: 5...3600) ?? 300)
        var printer = EventPrinter(json: shared.json, verbose: shared.verbose, clock: shared.clock)
        var sent = 0
        let progress = Progress(of: nil, endsUnreached: false) { event in
            if (event.content as? MessageStateChanged)?.message.state == .acked { sent += 1 }
            if shared.verbose { printer.print(event) } else if isProblem(event) { printer.printNotice(event) }
        }
        var options = Engine.Options(role: .background, budget: budget)
        options.stopsOnSignals = true
        let ending = try Engine.drive(shared.directory, options: options, onEvent: { progress.see($0) })
        return try conclude(ending, sent: sent, progress, shared)
    }

    /// Whether to report the event at once: a possible reason for a long wait, or for unsent stanzas.
    private static func isProblem(_ event: EngineEvent) -> Bool {
        switch event.content {
        case is Offline, is Refused, is WaitingForStorage: true
        case let changed as MessageStateChanged: changed.message.state == .failed
        default: false
        }
    }

    private static func conclude(
        _ ending: Engine.Ending, sent: Int, _ progress: Progress, _ shared: SharedOptions
    ) throws -> ExitStatus {
        if ending == .handedOver {
            let driver = try StatusReader(shared.directory, try shared.directory.read()).driver()
            Output.notice("\(driver.map { "process \($0.pid)" } ?? "another process") drives, and sends the rest")
            return .done
        }
        let left = try StatusReader(shared.directory, try shared.directory.read()).accounts()
            .map { $0.queuedMessages + $0.sentMessages - $0.unsettledMessages }.reduce(0, +)
        Output.notice("\(sent) messages sent, \(left) left")
        guard left > 0 || ending == .unfinished else { return .done }
        Output.error("not everything is sent\(progress.problem.map { ": \($0)" } ?? "")")
        return progress.problem == nil ? .temporaryFailure : .unavailable
    }
}
