import KalijCommandLine
import KalijText

/// The help texts, the man page and the completion, all generated from the commands' declarations.
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

    static var manual: Manual {
        Manual(
            program: "kalij", section: 1, summary: "XMPP client that loses nothing when it is killed",
            description: "An XMPP client that loses nothing when it is killed.", options: sharedOptions,
            entries: Kalij.commands.map(entry),
            closing: """
                A line of the configuration file is an option as on the command line, such as `--data /srv/kalij`, for all \
                commands on accounts that know it; a value goes on to the end of the line, without quotes, and ~/ is your \
                home. Options for a single call, such as --id or --remove, are refused there. The command line wins; `--config /dev/null` leaves the file out.

                `kalij help COMMAND` says more. Exit status: 0 done, 1 nothing found, 64 wrong usage, 65 bad input, 69 \
                server unavailable, 75 try again later or output lost, 77 authentication refused, 78 bad configuration.
                """,
            sections: ManualSections.all, day: kalijReleaseDay)
    }

    static var overview: PrintedText { PrintedText(asIs: manual.help) }
    static var page: PrintedText { PrintedText(asIs: manual.page) }

    static func of(_ command: any Command.Type) -> PrintedText { PrintedText(asIs: manual.help(of: entry(command))) }

    /// The lines with the usage of a command.
    static func usage(of command: any Command.Type) -> PrintedText {
        PrintedText(asIs: manual.usage(of: entry(command)))
    }

    private static func entry(_ command: any Command.Type) -> Manual.Entry {
        Manual.Entry(
            name: command.name, usage: command.usage, summary: command.summary, details: command.details,
            options: command.options)
    }
}
