import KalijClient

/// One of the things that `kalij` does.
protocol Command {
    static var name: String { get }
    /// What follows the name in the help, e.g. `JID [--server HOST:PORT]`.
    static var usage: String { get }
    /// One line for the list of commands.
    static var summary: String { get }
    /// The rest of the help: what goes in and comes out, examples.
    static var details: String { get }
    static var options: [Arguments.Option] { get }

    /// Does it.
    /// - Throws: `Failure`, or what `Failure.init(_:)` knows.
    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus
}

/// The options that stand before the command.
struct SharedOptions {
    let directory: AccountDirectory
    let json: Bool
    let verbose: Bool
}
