import Dispatch
import Glibc
import KalijLab

enum DemoCommand: Command {
    static let name = "demo"
    static let usage =
        "[--kills N] [--messages N] [--seed N] [--server prosody|ejabberd] [--archive POLICY] [--failed-resumes P] [--cuts P] [--keep]"
    static let summary = "show the main job on a local server: kill Kalij, lose nothing"
    static let details = """
        Starts a server on loopback in a temporary directory, logs an account in and runs `kalij run`. An independent
        client (slixmpp) sends numbered messages without pause, and `kalij send` queues replies. The demo kills `kalij run`
        with SIGKILL at random moments and starts it again, and kills some of the `kalij send`. Then the demo reads the
        server's archive and compares: messages lost, received twice or out of order, each way. After 5,000 messages new
        accounts are taken.

        With --failed-resumes, the session cannot be resumed after P % of the kills, for one reason after the other: the
        session has expired, the server was ended with SIGTERM and started again, or more stanzas came than the server keeps.
        The server then keeps sessions for 4 s, and 250 stanzas in each. With --cuts, a proxy cuts P % of Kalij's
        connections at a random point: with a reset, with an end, or by letting nothing through for up to 3 s.

        With --archive roster or never the server archives none of these messages. The judge is then the other side: each
        message was received once, or reported as of unknown outcome. The server is not ended then.

        The demo needs Debian's prosody, lua-dbi-sqlite3, python3-slixmpp, sqlite3 and openssl (`make demo` installs them),
        or ejabberd and erlang-p1-sqlite3. Nothing is left running, and nothing outside the temporary directory. Exit status
        1 if a message was lost, received twice or out of order (the directory stays then), 69 if the demo could not be
        carried out.
        """
    static let options: [Arguments.Option] = [
        .value("--kills", "N", "kill `kalij run` at least N times (default 50)"),
        .value("--messages", "N", "exchange at least N messages each way (default 500)"),
        .value("--seed", "N", "choose the moments of the kills (default: a new seed each time)"),
        .value("--server", "NAME", "start prosody (default) or ejabberd"),
        .value("--archive", "POLICY", "set the archive's policy: always (default), roster or never"),
        .value("--failed-resumes", "P", "lose the session after P percent of the kills (default 0)"),
        .value("--cuts", "P", "cut P percent of the connections (default 0)"),
        .flag("--keep", "keep the directory with the database and the logs, and print its path"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        var options = DemoOptions()
        options.kills = try arguments.integer("--kills", in: 0...1_000_000) ?? options.kills
        options.messages = try arguments.integer("--messages", in: 1...10_000_000) ?? options.messages
        // fits: `integer` accepts no negative number here
        if let seed = try arguments.integer("--seed") { options.seed = UInt64(seed) }
        if let name = arguments.value("--server") {
            guard let server = ServerKind(rawValue: name) else {
                throw Failure(.usage, "--server takes prosody or ejabberd, not \"\(name)\"")
            }
            options.server = server
        }
        if let name = arguments.value("--archive") {
            guard let archive = ArchivePolicy(rawValue: name) else {
                throw Failure(.usage, "--archive takes always, roster or never, not \"\(name)\"")
            }
            options.archive = archive
        }
        options.failedResumes = try arguments.integer("--failed-resumes", in: 0...100) ?? 0
        options.cuts = try arguments.integer("--cuts", in: 0...100) ?? 0
        options.json = shared.json
        options.keep = arguments.has("--keep")
        return ExitStatus(rawValue: wait(for: options, program: try Files.absolute(existing: "/proc/self/exe")))
            ?? .unavailable
    }

    /// Runs the demo to its end; this thread only waits.
    private static func wait(for options: DemoOptions, program: String) -> Int32 {
        let outcome = Outcome()
        Task.detached {
            outcome.finish(await runDemo(options: options, kalij: program) { Output.line("\($0)") })
        }
        return outcome.wait()
    }

    /// The demo's exit status, passed from its task to the waiting thread.
    // Written before `signal()` and read after `wait()`, which orders the accesses.
    private final class Outcome: @unchecked Sendable {
        private let finished = DispatchSemaphore(value: 0)
        private var status: Int32 = 69

        func finish(_ status: Int32) {
            self.status = status
            finished.signal()
        }

        func wait() -> Int32 {
            finished.wait()
            return status
        }
    }
}
