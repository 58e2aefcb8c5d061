import KalijCommandLine
import KalijText

enum HelpCommand: Command {
    static let name = "help"
    static let usage = "[COMMAND] [--man]"
    static let summary = "print the help of a command, or the man page"
    static let details = """
        Prints the list of commands, or the help of COMMAND. With --man prints the man page with all commands, in the language
        mdoc: `kalij help --man | man -l -` shows the page.
        """
    static let options: [Arguments.Option] = [.flag("--man", "print the man page")]
    static let usesAccounts = false

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        guard arguments.operands.count < 2 else { throw Failure(.usage, "`kalij help` takes one command") }
        if arguments.has("--man") {
            try arguments.expect(0...0)
            Output.line(Help.page)
        } else {
            Output.line(try arguments.operands.first.map { Help.of(try Kalij.command($0)) } ?? Help.overview)
        }
        return .done
    }
}
