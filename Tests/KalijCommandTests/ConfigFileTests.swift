import Testing

@testable import kalij

/// "a configuration file for defaults".
@Suite struct ConfigFileTests {
    private func arguments(
        _ text: String, _ words: [String] = [], of command: any Command.Type = SendCommand.self
    ) throws -> Arguments {
        let (given, _) = try Arguments.read(words[...], options: command.options + Help.sharedOptions)
        return try ConfigFile(Array(text.utf8), of: "/c").added(to: given, of: command)
    }

    @Test("a line is an option; its value goes to the end of the line") func lines() throws {
        let all = try arguments("# data\n\n  --data   /srv/my kalij \r\n--account=a@b\n--json\n\t-v")
        #expect(all.value("--data") == "/srv/my kalij" && all.value("--account") == "a@b")
        #expect(all.has("--json") && all.has("-v") && !all.has("--utc"))
    }

    @Test("the command line wins, and of two lines the last") func precedence() throws {
        let text = "--data /one\n--data /two\n--account a@b"
        #expect(try arguments(text).value("--data") == "/two")
        let all = try arguments(text, ["to", "--data", "/three"])
        #expect(all.all("--data") == ["/three"] && all.value("--account") == "a@b" && all.operands == ["to"])
    }

    @Test("the command line wins over the opposite, too") func opposites() throws {
        let all = try arguments("--queue-only", ["to", "--confirm"])
        #expect(all.has("--confirm") && !all.has("--queue-only"))
        #expect(try arguments("--queue-only").has("--queue-only"))
    }

    @Test("an option is for the commands that know it, in its form") func commands() throws {
        let text = "--confirm\n--limit 5\n--wait 10"
        let send = try arguments(text)
        #expect(send.has("--confirm") && send.value("--limit") == nil)
        let history = try arguments(text, of: HistoryCommand.self)
        #expect(!history.has("--confirm") && history.value("--limit") == "5")
        #expect(try arguments(text, of: PingCommand.self).value("--wait") == "10")
        // A flag there.
        #expect(try !arguments(text, of: ReadCommand.self).has("--wait"))
    }

    @Test(
        "a bad line is told with its number",
        arguments: [
            ("--json\n--dat /x", "/c:2: unknown option --dat"), ("data /x", "/c:1: not an option, such as --data DIR"),
            ("\n\n--data", "/c:3: --data needs a value"), ("--data ", "/c:1: --data needs a value"),
            ("--json yes", "/c:1: --json takes no value"), ("--json -v", "/c:1: --json takes no value"),
            ("--config /d", "/c:1: --config is for the command line only"),
            ("--data /x --utc", "/c:1: an option a line: a value goes on to the end of the line"),
            ("--remove", "/c:1: --remove is for the command line only"),
            ("--yes", "/c:1: --yes is for the command line only"),
            ("--all", "/c:1: --all is for the command line only"),
            ("--id fixed", "/c:1: --id is for the command line only"),
            ("--password-file /f", "/c:1: --password-file is for the command line only"),
            ("--data a\0b", "/c:1: the line holds the character U+0000"),
            ("--help", "/c:1: --help is for the command line only"),
            ("--data \"/srv/x\"", "/c:1: a value has no quotes: it goes on to the end of the line"),
        ])
    func bad(_ text: String, _ message: String) throws {
        let failure = try #require(throws: Failure.self) { try arguments(text) }
        #expect(failure.status == .badConfiguration && failure.message == message)
    }

    @Test("a number out of its range is told with its line, and on the command line without") func numbers() throws {
        let file = try arguments("--limit many", of: HistoryCommand.self)
        let failure = try #require(throws: Failure.self) { try file.integer("--limit", in: 1...10) }
        #expect(failure.status == .badConfiguration && failure.message.hasPrefix("/c:1: --limit takes a whole number"))
        let given = try arguments("--limit 5", ["--limit", "many"], of: HistoryCommand.self)
        let other = try #require(throws: Failure.self) { try given.integer("--limit", in: 1...10) }
        #expect(other.status == .usage && other.message.hasPrefix("--limit takes a whole number"))
    }

    @Test("bytes that are no text are refused") func bytes() {
        #expect(throws: Failure.self) { try ConfigFile([0x2D, 0xFF], of: "/c") }
    }
}
