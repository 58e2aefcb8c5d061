import KalijText

/// The help texts.
enum Help {
    static let sharedOptions: [Arguments.Option] = [
        .value("--data", "DIR", "store accounts in this directory (default: $XDG_DATA_HOME/kalij)"),
        .value("--config", "FILE", "take defaults for options from FILE ($XDG_CONFIG_HOME/kalij/config)"),
        .flag("--json", "print one JSON object a line on standard output"),
        .flag("--utc", "print the times of messages in UTC, not by the local clock"),
        .flag("-v", "print more on standard error"),
        .flag("--version", "print the version"),
        .flag("--help", "print this help, or a command's; so do -h and `kalij help`"),
    ]

    static func overview(_ commands: [any Command.Type]) -> PrintedText {
        let width = (commands.map { $0.name.count }.max() ?? 0) + 2
        let list = commands.map { "  " + padded($0.name, width) + $0.summary }.joined(separator: "\n")
        return PrintedText(
            asIs: """
                usage: kalij [--data DIR] [--json] [-v] COMMAND ...

                An XMPP client that loses nothing when it is killed.

                commands:
                \(list)

                options:
                \(table(sharedOptions))

                A line of the configuration file is an option as on the command line: `--data /srv/kalij`. Such an option is for all
                commands that know it; the command line wins, and `--config /dev/null` leaves the file out.

                `kalij help COMMAND` says more. Exit status: 0 done, 1 nothing found, 64 wrong usage, 65 bad input,
                69 server unavailable, 75 try again later or output lost, 77 authentication refused, 78 bad configuration.
                """)
    }

    static func of(_ command: any Command.Type) -> PrintedText {
        let options = command.options.isEmpty ? "" : "\noptions:\n\(table(command.options))\n"
        return usage(of: command) + PrintedText(asIs: "\n\n\(command.details)\n\(options)")
    }

    /// The line with the usage of a command.
    static func usage(of command: any Command.Type) -> PrintedText {
        PrintedText(asIs: "usage: kalij [--data DIR] [--json] [-v] \(command.name) \(command.usage)")
    }

    private static func table(_ options: [Arguments.Option]) -> String {
        let heads = options.map { option in option.value.map { "\(option.name) \($0)" } ?? option.name }
        let width = (heads.map(\.count).max() ?? 0) + 2
        return zip(heads, options).map { "  " + padded($0, width) + $1.help }.joined(separator: "\n")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
