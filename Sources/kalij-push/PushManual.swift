import KalijCommandLine
import KalijText

/// The help and the man page of `kalij-push`.
enum PushManual {
    static var manual: Manual {
        Manual(
            program: "kalij-push", section: 8, summary: "push app server for XMPP",
            description: """
                Answers the push requests (XEP-0357) of XMPP servers, and passes the pushes on to Apple, Google, and the push services that devices name.
                """,
            options: [.flag("--version", "print the version"), .flag("--help", "print this help; so does -h")],
            entries: [serve, check, webPushKey, help, completion],
            closing: """
                `kalij-push help COMMAND` says more. `kalij-push CONFIG.json` is the same as `kalij-push serve CONFIG.json`, as \
                fpush is started. CONFIG is a settings.json in fpush's format; /usr/share/doc/kalij-push/Operating.md \
                explains every key (in the sources: Documentation/Operating.md). \
                Exit status: 0 done, 64 wrong usage, 75 try again later, 78 bad configuration.
                """,
            sections: [
                Manual.Section(
                    "FILES",
                    """
                      /etc/kalij-push/settings.json   the configuration of Debian's package
                      /var/lib/kalij-push             the folder of its database
                      /usr/share/doc/kalij-push       Operating.md, which explains every key
                    """),
                Manual.Section(
                    "EXIT STATUS",
                    """
                      0   done
                      64  wrong usage
                      75  try again later: the disk, the port or the machine is the reason
                      78  the configuration or the database cannot be used
                    """),
                Manual.Section(
                    "EXAMPLES",
                    """
                      runuser -u kalij-push -- kalij-push check /etc/kalij-push/settings.json
                      systemctl reload kalij-push
                    """),
            ],
            day: kalijReleaseDay)
    }

    private static let serve = Manual.Entry(
        name: "serve", usage: "CONFIG", summary: "run the push server",
        details: """
            Runs the push server until SIGTERM, which lets begun pushes end. SIGHUP reads CONFIG again; a CONFIG that cannot be
            used changes nothing. The log goes to standard error, each line with its priority for the journal of systemd.
            """)

    private static let check = Manual.Entry(
        name: "check", usage: "CONFIG [--push NODE [--module MODULE]]", summary: "check a configuration",
        details: """
            Checks CONFIG and the files named there. The exit status is that of `serve`. Warnings go to standard error. Run the
            check as the server's user: root can read files that the server cannot.

            With --push sends one push to the device of NODE, as a server's publish would, and prints the answer of the push
            service; exit status 75 if the push was not taken. The running server is not asked, and its state stays as it is.
            """,
        options: [
            .value("--push", "NODE", "send one push to NODE, a device of your own"),
            .value("--module", "MODULE", "send with MODULE (default: the default module)"),
        ])

    private static let webPushKey = Manual.Entry(
        name: "webpush-key", usage: "FILE",
        summary: "make the key of a module of type webpush, and print its public key",
        details: """
            Makes the key in FILE unless there is one, readable for its owner alone, and prints the public key in base64url.
            Applications give the public key to their push service (`applicationServerKey` in browsers, `vapid` in UnifiedPush),
            which then takes pushes from this server alone. With another key in its place, devices have to register again.

            example:
              runuser -u kalij-push -- kalij-push webpush-key /etc/kalij-push/webpush.pem
            """)

    private static let help = Manual.Entry(
        name: "help", usage: "[COMMAND] [--man]", summary: "print the help of a command, or the man page",
        details: """
            Prints the list of commands, or the help of COMMAND. With --man prints the man page, in the language mdoc:
            `kalij-push help --man | man -l -` shows the page.
            """,
        options: [.flag("--man", "print the man page")])

    private static let completion = Manual.Entry(
        name: "completion", usage: "bash|zsh|fish", summary: "print a script that completes words in a shell",
        details: """
            Prints a script for the shell, which then completes commands, options and files. Debian's package has the scripts in
            their places.

            example:
              source <(kalij-push completion bash)
            """)
}
