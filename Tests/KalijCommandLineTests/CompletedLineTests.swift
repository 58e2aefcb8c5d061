import Testing

@testable import KalijCommandLine

@Suite("Completion of words")
struct CompletedLineTests {
    private func words(_ line: String...) -> [String]? {
        guard case .words(let candidates) = exampleManual.completed(line) else { return nil }
        return candidates.map(\.word)
    }

    @Test("The first word is a command, also after options")
    func commands() {
        #expect(words("") == ["room", "settings", "send", "query", "help"])
        #expect(words("se") == ["settings", "send"])
        #expect(words("--json", "--data", "/x", "ro") == ["room"])
        #expect(words("--data=/x", "ro") == ["room"])
        #expect(words("nonsense", "") == [])
        #expect(exampleManual.completed(["ro"]).lines == ["room\tenter and leave"])
        #expect(words() == ["room", "settings", "send", "query", "help"])
    }

    @Test("Words of a command are those of the usage, with their meanings")
    func subcommands() {
        #expect(words("room", "") == ["list", "join", "avatar", "version2"])
        #expect(exampleManual.completed(["room", "j"]).lines == ["join\tenters a room"])
        #expect(words("room", "version2", "o") == ["on", "off"])
        #expect(words("room", "join", "") == [])
        #expect(words("room", "join", "a", "") == [])
        #expect(words("send", "") == [])
        #expect(words("send", "romeo", "") == [])
        #expect(words("help", "q") == ["query"])
    }

    @Test("Settings may stand anywhere")
    func settings() {
        #expect(words("settings", "romeo", "notify=") == ["notify=all", "notify=none"])
        #expect(exampleManual.completed(["settings", "rec"]).lines.first == "receipts=on\ttell others")
    }

    @Test("Options belong to their command, and their values are choices, files or directories")
    func options() {
        #expect(words("room", "--") == ["--nick", "--mode", "--data", "--json"])
        #expect(words("send", "--") == ["--data", "--json"])
        #expect(words("room", "--mode", "") == ["plain", "secret"])
        #expect(words("room", "--mode=s") == ["--mode=secret"])
        #expect(words("room", "--nick", "") == [])
        #expect(words("room", "--json=x") == [])
        #expect(words("room", "--", "--") == [])
        #expect(exampleManual.completed(["--data", ""]) == .directories)
        #expect(exampleManual.completed(["--data=/"]) == .directories)
    }

    @Test("Names of files are the shell's work")
    func files() {
        #expect(exampleManual.completed(["room", "avatar", "orchard", ""]) == .files)
        #expect(exampleManual.completed(["query", "body#", ""]) == .files)
        #expect(exampleManual.completed(["query", "--stream", "body#", "x", "y", ""]) == .files)
        #expect(words("query", "") == [])
    }

    @Test("Names in the help are completed by what the program knows")
    func known() {
        func words(_ line: String...) -> [String]? {
            let names = ["TO": ["romeo@example.net", "nurse@example.net"], "ROOM": ["orchard"], "--data": ["here"]]
            guard case .words(let candidates) = exampleManual.completed(line, known: { names[$0] ?? [] }) else {
                return nil
            }
            return candidates.map(\.word)
        }
        #expect(words("send", "") == ["romeo@example.net", "nurse@example.net"])
        #expect(words("send", "n") == ["nurse@example.net"])
        #expect(words("room", "join", "") == ["orchard"])
        #expect(words("--data", "") == ["here"])
        #expect(words("settings", "r") == ["receipts=on", "receipts=off"])
    }

    @Test("A usage that nobody has closed is read to its end")
    func damaged() {
        #expect(Usage("[list | join [ROOM").next(after: []) == ["list", "join"])
        #expect(Usage("] x").forms == [[]])
        #expect(Usage("").next(after: ["x"]) == [])
    }
}
