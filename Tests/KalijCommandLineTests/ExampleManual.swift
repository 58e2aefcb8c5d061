import KalijCommandLine

/// A program with each kind of text, option and word.
let exampleManual = Manual(
    program: "example", section: 1, summary: "program to test manuals", description: "A program.",
    options: [.value("--data", "DIR", "store here"), .flag("--json", "print JSON")],
    entries: [
        Manual.Entry(
            name: "room", usage: "[list | join ROOM | avatar ROOM FILE | version2 on|off] [--nick N]",
            summary: "enter and leave",
            details: """
                .Starts with a dot, has a \\ and 'quotes', and a `phrase in a line`; and this paragraph is long enough to need a
                second line.

                  list         prints the rooms
                  join ROOM    enters
                               a room
                  avatar ROOM FILE
                               sets the picture
                  version2 on  uses 2

                examples:
                  example room "join"   x
                  .Ed `looks` like roff
                """,
            options: [.value("--nick", "N", "the nickname"), .value("--mode", "plain|secret", "how")]),
        Manual.Entry(
            name: "settings", usage: "[JID] [receipts=on|off] [notify=all|none|TIME]", summary: "change settings",
            details: "  receipts  tell others\n  notify    which notify"),
        Manual.Entry(name: "send", usage: "TO [TEXT | -i]", summary: "send", details: "Sends."),
        Manual.Entry(name: "query", usage: "QUERY [ARG...] [--stream] [FILE]", summary: "query", details: "Asks."),
        Manual.Entry(name: "help", usage: "[COMMAND] [--man]", summary: "help", details: "Helps."),
    ],
    closing: "The end.",
    sections: [Manual.Section("ENVIRONMENT", "  TZ  the time zone"), Manual.Section("EXIT STATUS", "  0  done")],
    day: "2026-11-06")
