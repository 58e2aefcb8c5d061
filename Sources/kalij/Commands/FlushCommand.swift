import Glibc
import KalijClient
import KalijTransport

enum FlushCommand: Command {
    static let name = "flush"
    static let usage = "[--budget SECONDS]"
    static let summary = "send what is left, then end"
    static let details = """
        Goes online if no other process drives, sends what is queued, and ends when your server has all of it; what is left
        at the end of the budget is sent by the next. It lets go for any process that asks. If another process drives, that
        one sends, and this one has nothing to do.
        Exit status 75 if something is left.
        """
    static let options: [Arguments.Option] = [
        .value("--budget", "SECONDS", "how long it may take, 5 to 3600 (default: 300)")
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let budget = Double(try arguments.integer("--budget", in: 5...3600) ?? 300)
        let printer = EventPrinter(json: shared.json, verbose: shared.verbose)
        let ending = try Engine.drive(
            shared.directory, options: .init(role: .background, budget: budget),
            onEvent: { if shared.verbose { printer.print($0) } },
            began: { engine in
                try engine.loop.watchSignals([SIGTERM, SIGINT]) { [weak engine] _ in engine?.stop() }
            })
        return ending == .unfinished ? .tryAgain : .done
    }
}
