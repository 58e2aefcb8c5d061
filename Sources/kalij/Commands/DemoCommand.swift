import Dispatch
import Glibc
import KalijLab

enum DemoCommand: Command {
    static let name = "demo"
    static let usage =
        "[--kills N] [--messages N] [--seed N] [--server prosody|ejabberd] [--archive POLICY] [--failed-resumes P] [--cuts P] [--keep]"
    static let summary = "the main job on a local server: kill it, lose nothing"
    static let details = """
        Starts a server on loopback in a temporary directory, logs an account in and runs it as `kalij run`, while an
        independent client (slixmpp) sends it numbered messages without pause and `kalij send` queues replies. Kills
        `kalij run` with SIGKILL at random moments and starts it again, and some of the `kalij send`. Then reads the
        server's archive and compares: what was lost, came twice or out of order, each way. After 5,000 messages
        accounts are taken anew.

        With --failed-resumes, after P % of the kills the session cannot be resumed, for one reason after the other: it
        has expired, the server was ended with SIGTERM and started again, more was sent to it than the server keeps.
        For that the server keeps sessions for 4 s, and 250 stanzas in each. With --cuts, P % of Kalij's connections
        are cut somewhere by a proxy: with a reset, with an end, or by letting nothing through for up to 3 s.

        With --archive roster or never the server's archive keeps nothing of this. The judge is then what the other side has
        received: each message once, or reported as of unknown outcome. The server is not ended then.

        Needs Debian's prosody, lua-dbi-sqlite3, python3-slixmpp, sqlite3 and openssl (`make demo` installs them), or
        ejabberd and erlang-p1-sqlite3. It leaves nothing running and nothing outside its temporary directory.
        Exit status 1 if anything was lost, came twice or out of order (the directory is left then), 69 if the demo could not be carried out.
        """
    static let options: [Arguments.Option] = [
        .value("--kills", "N", "kill `kalij run` at least N times (default 50)"),
        .value("--messages", "N", "at least N messages each way (default 500)"),
        .value("--seed", "N", "decides the moments of the kills (default: a new one each time)"),
        .value("--server", "NAME", "prosody (default) or ejabberd"),
        .value("--archive", "POLICY", "what the server's archive keeps: always (default), roster or never"),
        .value("--failed-resumes", "P", "lose the session after P percent of the kills (default 0)"),
        .value("--cuts", "P", "cut P percent of the connections (default 0)"),
        .flag("--keep", "leave the directory with the database and the logs, and say where"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        var options = DemoOptions()
        options.kills = try arguments.integer("--kills", in: 0...1_000_000) ?? options.kills
        options.messages = try arguments.integer("--messages", in: 1...10_000_000) ?? options.messages
        // fits: `integer` takes no negative number here
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

    /// The demo's exit status, handed from its task to the waiting thread.
    // Written before `signal()` and read after `wait()`, so the order is certain.
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
