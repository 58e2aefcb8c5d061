import Testing

@testable import KalijCommandLine

@Suite("Help")
struct HelpTests {
    @Test("Texts are paragraphs, tables and lines that stay as they are")
    func blocks() {
        let text = HelpText("One\ntwo.\n\n  a    first\n       more\n  b c  second\nexample:\n  x  y  z\n   w")
        #expect(
            text.blocks == [
                .paragraph("One two."),
                .table([.init(head: "a", text: "first more"), .init(head: "b c", text: "second")]),
                .paragraph("example:"), .literal(["x  y  z", " w"]),
            ])
        #expect(text.isApart == [false, true, false, false])
    }

    @Test("Help of a command is wrapped, and keeps phrases and tables")
    func help() throws {
        let room = try #require(exampleManual.entry("room"))
        #expect(
            exampleManual.help(of: room) == """
                usage: example [OPTIONS] room [list | join ROOM | avatar ROOM FILE | version2 on|off] [--nick N]

                .Starts with a dot, has a \\ and 'quotes', and a `phrase in a line`; and this paragraph is long
                enough to need a second line.

                  list              prints the rooms
                  join ROOM         enters a room
                  avatar ROOM FILE  sets the picture
                  version2 on       uses 2

                examples:
                  example room "join"   x
                  .Ed `looks` like roff

                options:
                  --nick N             the nickname
                  --mode plain|secret  how
                """)
    }

    @Test("A phrase between backticks is not divided; a word of any length has a line")
    func phrases() {
        let text = String(repeating: "word ", count: 18) + "`kalij run --json` " + String(repeating: "x", count: 120)
        let lines = Columns.lines(text)
        #expect(lines.count == 3)
        #expect(lines[1] == "`kalij run --json`")
        #expect(lines[2].count == 120)
    }

    @Test("The help of the program has its commands and options")
    func overview() {
        #expect(
            exampleManual.help == """
                usage: example [OPTIONS] COMMAND ...

                A program.

                commands:
                  room      enter and leave
                  settings  change settings
                  send      send
                  query     query
                  help      help

                options:
                  --data DIR  store here
                  --json      print JSON

                The end.
                """)
    }
}
