import Foundation
import KalijLab
import Testing

/// `kalij query`, used as by its users.
@Suite struct QueryCommandTests {
    private let laboratory: Laboratory
    private let kalij: Kalij

    init() throws {
        laboratory = try Laboratory()
        kalij = try Kalij(data: laboratory.path("data"))
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = laboratory.path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private let message = """
        <message xmlns='jabber:client' type='chat' from='a@b/c'><body>Hi &amp; bye</body>\
        <delay xmlns='urn:xmpp:delay' stamp='2002-09-10T23:08:25.5000001+02:00'/>\
        <v n=' 7 ' d='1.50e3' b='1' u='605818D4-4D16-4ACC-B003-BFA3E11849E1'>aGVs bG8=</v></message>
        """

    private func stream(_ stanzas: String) -> String {
        "<?xml version='1.0'?>\n<stream:stream xmlns='jabber:client' "
            + "xmlns:stream='http://etherx.jabber.org/streams'>\n\(stanzas)</stream:stream>"
    }

    private let form = """
        <iq xmlns='jabber:client'><query xmlns='urn:q'><x xmlns='jabber:x:data' type='result'><title>T</title>\
        <instructions>one</instructions><instructions>two</instructions><field var='FORM_TYPE' type='hidden'>\
        <value>urn:f</value></field><field var='size' type='list-single' label='L'><desc>D</desc><required/>\
        <value>5</value><option label='Five'><value>5</value></option><option><value>6</value></option></field>\
        <reported><field var='n' type='text-single' label='N'/></reported><item><field var='n'><value>1</value>\
        </field></item><item><field var='n'><value>2</value></field></item></x></query></iq>
        """

    @Test(
        "one result a line: text unchanged; with --json a JSON value",
        arguments: [
            ("body#", "Hi & bye", "\"Hi & bye\""), ("/@type", "chat", "\"chat\""), ("*$", "body\nv", "\"body\"\n\"v\""),
            ("body", "<body xmlns='jabber:client'>Hi &amp; bye</body>", nil),
            ("{urn:xmpp:delay}delay@stamp|datetime", "2002-09-10T21:08:25.5Z", "\"2002-09-10T21:08:25.5Z\""),
            ("v@n|int", "7", "7"), ("v@n|uint", "7", "7"), ("v@d|double", "1500", "1500"), ("v@b|bool", "true", "true"),
            ("v#|base64", "aGVsbG8=", "\"aGVsbG8=\""),
            ("v@u|uuid", "605818d4-4d16-4acc-b003-bfa3e11849e1", "\"605818d4-4d16-4acc-b003-bfa3e11849e1\""),
            ("/@type|uuidcast", "de3ecc38-9f4e-4b9e-9ebd-bfc26bd9d2a9", nil),
            (
                "/@@", #"{"from":"a@b/c","type":"chat","xmlns":"jabber:client"}"#,
                #"{"from":"a@b/c","type":"chat","xmlns":"jabber:client"}"#
            ),
        ])
    func results(query: String, text: String, json: String?) throws {
        let plain = try kalij("query", query, input: message)
        if query.hasSuffix("uuidcast") {
            #expect(UUID(uuidString: plain.output.trimmingCharacters(in: .newlines)) != nil)
        } else {
            #expect(plain.output == text + "\n")
        }
        #expect(plain.status == 0 && plain.errors.isEmpty)
        guard let json else { return }
        #expect(try kalij("--json", "query", query, input: message).output == json + "\n")
        #expect(try kalij("query", query, "--json", input: message).output == json + "\n")
    }

    @Test("an element in JSON is a string of its XML")
    func elements() throws {
        let line = try #require(try kalij("query", "--json", "body", input: message).lines.first)
        let value = try JSONDecoder().decode(String.self, from: Data(line.utf8))
        #expect(value == "<body xmlns='jabber:client'>Hi &amp; bye</body>")
    }

    @Test("a field: all keys, null for missing parts", arguments: [[], ["--json"]])
    func fields(options: [String]) throws {
        let outcome = try kalij.run(options + ["query", "{urn:q}query/\\&size\\"], input: form)
        let field = try #require(try outcome.objects().first)
        let keys = ["description", "label", "name", "options", "required", "type", "values"]
        #expect(field.keys.sorted() == keys)
        #expect(field["name"] as? String == "size")
        #expect(field["type"] as? String == "list-single")
        #expect(field["label"] as? String == "L")
        #expect(field["required"] as? Bool == true)
        #expect(field["description"] as? String == "D")
        #expect(field["values"] as? [String] == ["5"])
        let choices = try #require(field["options"] as? [[String: Any]])
        #expect(choices.map { $0["value"] as? String } == ["5", "6"])
        #expect(choices.map { $0["label"] as? String } == ["Five", nil])
        let item = try #require(try kalij("query", "{*}*/\\[1]&n\\", input: form).objects().first)
        #expect(item.keys.sorted() == keys)
        #expect(item["type"] as? String == "text-single")
        #expect(item["description"] is NSNull)
        #expect(item["values"] as? [String] == ["2"])
    }

    @Test("a form: all keys, its fields and items as fields")
    func forms() throws {
        let form = try #require(try kalij("query", "{urn:q}query/\\{urn:f}result\\", input: form).objects().first)
        #expect(form.keys.sorted() == ["fields", "form_type", "instructions", "items", "title", "type"])
        #expect(form["type"] as? String == "result")
        #expect(form["form_type"] as? String == "urn:f")
        #expect(form["title"] as? String == "T")
        #expect(form["instructions"] as? [String] == ["one", "two"])
        #expect((form["fields"] as? [[String: Any]])?.map { $0["name"] as? String } == ["FORM_TYPE", "size"])
        let items = try #require(form["items"] as? [[[String: Any]]])
        #expect(items.map { $0.map { $0["values"] as? [String] } } == [[["1"]], [["2"]]])
        #expect(items[0][0]["label"] as? String == "N")
        let empty = try #require(
            try kalij("query", "/\\\\", input: "<x xmlns='jabber:x:data'/>").objects().first)
        #expect(empty["type"] is NSNull && empty["title"] is NSNull && empty["form_type"] is NSNull)
        #expect((empty["fields"] as? [Any])?.isEmpty == true)
    }

    @Test("the value of a field, converted")
    func formValues() throws {
        #expect(try kalij("query", "{urn:q}query/\\@size\\", input: form).output == "5\n")
        #expect(try kalij("query", "--json", "{urn:q}query/\\@size\\", input: form).output == "\"5\"\n")
        #expect(try kalij("query", "--json", "{urn:q}query/\\@size\\|int", input: form).output == "5\n")
        #expect(try kalij("query", "{urn:q}query/\\[0]@n\\|int", input: form).output == "1\n")
        #expect(try kalij("query", "{urn:q}query/\\[2]@n\\|int", input: form).status == 1)
    }

    @Test("the first words after QUERY fill the specifiers, the next is FILE, -- ends options")
    func words() throws {
        let path = try file("message.xml", message)
        let odd = try file("odd.xml", "<a b='--json' c='x>y'/>")
        #expect(try kalij("query", "/<type=%@><from=%@>/body#", "chat", "a@b/c", path).output == "Hi & bye\n")
        #expect(try kalij("query", "body#", path).output == "Hi & bye\n")
        #expect(try kalij("query", "body#", "-", input: message).output == "Hi & bye\n")
        #expect(try kalij("query", "/<b=%@>@c", "--", "--json", odd).output == "x>y\n")
        #expect(try kalij("query", "--", "/<c=%@>$", "x>y", odd).output == "a\n")
        #expect(try kalij("query", "/<b=%@>", "--json", odd).status == 65, "an option, so odd.xml is the argument")
    }

    @Test("too few, superfluous words or an unreadable file: 65; no query or an unknown option: 64")
    func wrongWords() throws {
        let path = try file("message.xml", message)
        for words in [
            ["/<a=%@>"], ["/<a=%@><b=%d>", "x"], ["/@a", path, "more"], ["/@a", laboratory.path("none.xml")],
            ["/@a", laboratory.path("")],
        ] {
            let outcome = try kalij.run(["query"] + words, input: message)
            #expect(outcome.status == 65, "\(words)")
            #expect(outcome.errors.hasPrefix("kalij: ") && outcome.output.isEmpty)
        }
        #expect(try kalij("query", "/@a", laboratory.path("none.xml")).errors.contains("No such file"))
        #expect(try kalij("query").status == 64)
        #expect(try kalij("query", "--fast", "a").status == 64)
    }

    @Test("malformed XML and queries: 65, with line and column")
    func malformed() throws {
        let path = try file("bad.xml", "<a>\n  <b></a>")
        let xml = try kalij("query", "b", path)
        #expect(xml.status == 65 && xml.output.isEmpty)
        #expect(xml.errors.hasPrefix("kalij: \(path):2:"))
        let input = try kalij("query", "b", input: "<a>\n  <b></a>")
        #expect(input.status == 65 && input.errors.contains("line 2, column "))
        #expect(try kalij("query", "b", input: "").status == 65)
        #expect(try kalij("query", "b", input: "<a/><b/>").status == 65)
        let query = try kalij("query", "a/\\[x]\\", input: message)
        #expect(query.status == 65)
        #expect(query.errors.contains("line 1, column 5: expected the number of an item"))
        let lines = try kalij("query", "a<b~x\ny>\\&c\\|int", input: message)
        #expect(lines.errors.contains("line 2, column 7: expected the end"))
    }

    @Test("no result: 1, and nothing printed")
    func nothing() throws {
        for (query, options) in [("subject#", []), ("/@type|int", []), ("subject", ["--stream"])]
            as [(String, [String])]
        {
            let input = options.isEmpty ? message : stream(message)
            let outcome = try kalij.run(["query", query] + options, input: input)
            #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(query)")
        }
    }

    @Test("each stanza of a stream stands alone; the header is no stanza")
    func standingAlone() throws {
        let input = stream("\(message)\n<presence from='p'/>\n<stream:features/>\n")
        #expect(try kalij("query", "--stream", "/$", input: input).lines == ["message", "presence", "features"])
        #expect(try kalij("query", "--stream", "../*$", input: input).lines == ["message", "presence", "features"])
        #expect(try kalij("query", "--stream", "../../*$", input: input).status == 1)
        let presence = try kalij("query", "--stream", "/{jabber:client}presence", input: input)
        #expect(presence.output == "<presence xmlns='jabber:client' from='p'/>\n")
    }

    @Test("a truncated stream prints the earlier results, then the error, 65")
    func truncated() throws {
        let whole = stream("<a b='1'/>\n<a b='2'/>\n")
        for cut in ["<a b='3'", "<a b='3'></b>", "", "<!-- c -->"] {
            let input = whole.replacingOccurrences(of: "</stream:stream>", with: cut)
            let outcome = try kalij("query", "--stream", "/@b", input: input)
            #expect(outcome.output == "1\n2\n", "\(cut)")
            #expect(outcome.status == 65)
            #expect(outcome.errors.hasPrefix("kalij: standard input, line "), "\(outcome.errors)")
        }
    }

    @Test("results come as the stanzas do")
    func flushed() async throws {
        let query = try kalij.begun(["query", "--stream", "/@b"])
        try query.process.write(stream("").replacing("</stream:stream>", with: "<a b='1'/>"))
        #expect(try await until { try query.output == "1\n" })
        try query.process.write("<a b='2'/><a b='")
        #expect(try await until { try query.output == "1\n2\n" })
        try query.process.write("3'/></stream:stream>")
        query.process.closeInput()
        #expect(query.process.ended() == .exited(0))
        #expect(try query.output == "1\n2\n3\n")
    }

    @Test("when nobody reads any more the query ends quietly, and does not read on")
    func brokenPipe() throws {
        let errors = laboratory.path("errors")
        let (process, output) = try piped(["query", "--stream", "/@b"], input: try endless(), errors: errors)
        #expect(output.readData(ofLength: 4) == Data("1\n1\n".utf8))
        try output.close()
        #expect(process.ended() == .exited(0))
        #expect(try String(contentsOfFile: errors, encoding: .utf8).isEmpty)
    }

    @Test("a full disk is told of") func fullDisk() throws {
        var launch = kalij.launch(["query", "--stream", "/@b"])
        launch.input = .file(try endless())
        launch.output = .file("/dev/full")
        launch.errors = .file(laboratory.path("errors"))
        #expect(try Subprocess(launch).ended() == .exited(75))
        let text = try String(contentsOfFile: laboratory.path("errors"), encoding: .utf8)
        #expect(text.contains("standard output: No space left on device"))
    }

    @Test("memory does not grow with the stream")
    func memory() throws {
        func peak(_ stanzas: Int) throws -> Int {
            let stanza = "<message from='a@b' to='c@d'><body>\(String(repeating: "x", count: 400))</body></message>\n"
            let path = try file("long.xml", stream(String(repeating: stanza, count: stanzas)))
            let (process, output) = try piped(["query", "--stream", "body#", path])
            // All but the last line comes before the end, so the peak seen here is the peak of the whole run.
            var (read, peak) = (0, 0)
            while read < stanzas * 401, case let some = output.availableData, !some.isEmpty {
                read += some.count
                let status = (try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
                peak = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? peak
            }
            #expect(process.ended() == .exited(0) && read == stanzas * 401)
            return peak
        }
        let (short, long) = (try peak(2_000), try peak(100_000))
        #expect(long - short < 2_048, "\(short) and \(long) KiB")
    }

    @Test("a stanza over the limit is skipped with a note, the others are asked")
    func skipped() throws {
        let huge = "<a b='2'>" + String(repeating: "x", count: 17 << 20) + "</a>"
        let path = try file("huge.xml", stream("<a b='1'/>\n\(huge)\n<a b='3'/>\n"))
        let outcome = try kalij("query", "--stream", "/@b", path)
        #expect(outcome.output == "1\n3\n" && outcome.status == 0)
        #expect(outcome.errors.contains("\(path):4: skipped a <a> over the limit on"), "\(outcome.errors)")
    }

    @Test("an element of forty thousand items is read whole")
    func wideElement() throws {
        let items = (0..<40_000).map { "<item jid='\($0)@b'/>" }.joined()
        let path = try file("roster.xml", "<query xmlns='jabber:iq:roster'>\(items)</query>")
        let outcome = try kalij("query", "item@jid", path)
        #expect(outcome.status == 0 && outcome.lines.count == 40_000)
    }

    @Test("the examples in the help are queries that compile")
    func examples() throws {
        let help = try kalij("query", "--help").output
        let examples = help.split(separator: "\n").filter { $0.hasPrefix("  kalij query ") }
        #expect(examples.count >= 10)
        for example in examples {
            let query = try #require(example.split(separator: "'").dropFirst().first.map(String.init))
            let arguments = query.contains("%@") ? ["x"] : []
            #expect(try kalij.run(["query", query] + arguments, input: "<nothing/>").status == 1, "\(query)")
        }
        #expect(help.contains("\\{urn:xmpp:http:upload:0}result@max-file-size\\|int"))
    }

    /// A command with a pipe as its output.
    private func piped(
        _ arguments: [String], input: String? = nil, errors: String? = nil
    ) throws -> (Subprocess, output: FileHandle) {
        let pipe = Pipe()
        // Otherwise the command would inherit the reading end, and always have a reader.
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        var launch = kalij.launch(arguments)
        if let input { launch.input = .file(input) }
        if let errors { launch.errors = .file(errors) }
        launch.output = .descriptor(pipe.fileHandleForWriting.fileDescriptor)
        let process = try Subprocess(launch)
        try pipe.fileHandleForWriting.close()
        return (process, pipe.fileHandleForReading)
    }

    /// A file with more stanzas than fit into a pipe.
    private func endless() throws -> String {
        try file("endless.xml", stream(String(repeating: "<a b='1'/>", count: 200_000)))
    }
}
