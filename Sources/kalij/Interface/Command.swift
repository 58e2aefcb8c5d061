import KalijClient
import KalijCommandLine

/// A command of `kalij`.
protocol Command {
    static var name: String { get }
    /// The part after the name in the help, e.g. `JID [--server HOST:PORT]`.
    static var usage: String { get }
    /// A line for the list of commands.
    static var summary: String { get }
    /// The rest of the help: input, output, examples.
    static var details: String { get }
    static var options: [Arguments.Option] { get }
    /// Whether the command requires the directory of accounts. Others run without a home directory, too.
    static var usesAccounts: Bool { get }

    /// Runs the command.
    /// - Throws: `Failure`, or an error that `Failure.init(_:)` converts.
    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus
}

extension Command {
    static var usesAccounts: Bool { true }
}

/// The options before the command.
struct SharedOptions {
    let directory: AccountDirectory
    let json: Bool
    let verbose: Bool
    let clock: WallClock
}
