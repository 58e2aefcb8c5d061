import KalijClient
import KalijCoordination
import KalijText
import KalijTransport

import Glibc

/// The `kalij` command.
@main
enum Kalij {
    static var commands: [any Command.Type] {
        [
            LoginCommand.self, RegisterCommand.self, PasswordCommand.self,
            RunCommand.self, WakeCommand.self, SendCommand.self, FlushCommand.self,
            CorrectCommand.self, RetractCommand.self, ReactCommand.self, ForgetCommand.self, ResendCommand.self,
            ChatsCommand.self, HistoryCommand.self, ReadCommand.self, SearchCommand.self, SettingsCommand.self,
            RosterCommand.self, AddCommand.self, RemoveCommand.self, RequestsCommand.self, AcceptCommand.self,
            DenyCommand.self, BlockCommand.self, UnblockCommand.self, ProfileCommand.self, RoomCommand.self,
            OMEMOCommand.self, UploadsCommand.self, DownloadCommand.self, PushCommand.self,
            StatusCommand.self, IQCommand.self, DiscoCommand.self, PingCommand.self,
            PendingCommand.self, QuarantineCommand.self, ExportCommand.self, LogoutCommand.self, QueryCommand.self,
            DemoCommand.self,
            HelpCommand.self, CompletionCommand.self,
        ]
    }

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        Output.keepStandardStreams()
        forbidCoreDumps()
        // A file size limit is handled like a full disk.
        signal(SIGXFSZ, SIG_IGN)
        ErrorTexts.loadLate()
        do {
            leave(Output.conclude(try run(CommandLine.arguments.dropFirst())))
        } catch {
            let failure = Failure(error)
            Output.error("\(failure.message)")
            if failure.status == .usage { Output.notice("`kalij help` shows how it is used") }
            leave(Output.conclude(failure.status))
        }
    }

    /// Ends the process without the libraries' `atexit` handlers: a driver's thread may still use what they free.
    private static func leave(_ status: ExitStatus) -> Never {
        fflush(nil)
        _exit(status.rawValue)
    }

    /// Disables core dumps, because the memory holds keys and texts. `KALIJ_CORE_DUMPS=1` keeps the limit.
    private static func forbidCoreDumps() {
        guard EnvironmentVariable.value("KALIJ_CORE_DUMPS") == nil else { return }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    private static func run(_ line: ArraySlice<String>) throws -> ExitStatus {
        let (shared, rest) = try Arguments.read(line, options: Help.sharedOptions, stop: { _ in true })
        if shared.has("--version") { return show("kalij \(kalijVersion)") }
        guard let name = rest.first else {
            if shared.has("--help") { return show(Help.overview) }
            throw Failure(.usage, "no command given")
        }
        let command = try command(name)
        do {
            return try run(command, rest.dropFirst(), shared)
        } catch let failure as Failure where failure.status == .usage {
            Output.error("\(failure.message)")
            Output.notice(
                failure.isLost ? Help.of(command) : Help.usage(of: command) + "; `kalij help \(command.name)` says more"
            )
            return .usage
        }
    }

    private static func run(
        _ command: any Command.Type, _ words: ArraySlice<String>, _ shared: Arguments
    ) throws -> ExitStatus {
        let (arguments, _) = try Arguments.read(words, options: command.options + Help.sharedOptions)
        if shared.has("--help") || arguments.has("--help") { return show(Help.of(command)) }
        let given = shared.merged(arguments)
        // Help is printed even if the file is invalid.
        let all = command.usesAccounts ? try ConfigFile(for: given).added(to: given, of: command) : given
        var directory = AccountDirectory(command.usesAccounts ? try dataDirectory(all.value("--data")) : "")
        directory.willMigrate = {
            Output.notice("kalij: bringing the stored messages to this version; nothing is lost if that is interrupted")
        }
        return try command.run(
            all,
            SharedOptions(
                directory: directory,
                json: all.has("--json"), verbose: all.has("-v"), clock: WallClock(isUTC: all.has("--utc"))))
    }

    static func command(_ name: String) throws -> any Command.Type {
        guard let command = commands.first(where: { $0.name == name }) else {
            let similar = commands.map { $0.name }.first { $0.isAlmost(name) }
            throw Failure(.usage, "unknown command \"\(name)\"" + (similar.map { "; did you mean `\($0)`?" } ?? ""))
        }
        return command
    }

    private static func show(_ text: PrintedText) -> ExitStatus {
        Output.line(text)
        return .done
    }

    static func dataDirectory(_ given: String?) throws -> String {
        if let given {
            guard !given.isEmpty else { throw Failure(.usage, "--data needs the name of a directory") }
            return given
        }
        guard let path = UserData("kalij").path else {
            throw Failure(.usage, "HOME is not set: say where accounts are kept with --data")
        }
        return path
    }
}
