import Glibc
import KalijXML

enum QueryCommand: Command {
    static let name = "query"
    static let usage = "QUERY [ARG...] [--stream] [FILE]"
    static let summary = "run a query over XML"
    static let details = """
        Runs a query over an element, or with --stream over each stanza of a whole stream (with its header), from FILE
        or standard input. The first words after QUERY fill the query's % specifiers, the next word is FILE; -- ends
        options. A stream may have any length: results are printed stanza by stanza, and memory does not grow. A stanza
        over \(limits.stanzaBytes >> 20) MiB is skipped with a note.

        prints one result a line:
          text              unchanged
          element           the element's XML
          @@                a JSON object
          form              {"type","form_type","title","instructions","fields","items"}: instructions an array of
                            strings, fields an array, items an array of arrays of fields
          field             {"name","type","label","required","description","values","options"}: values an array of
                            strings, options an array of {"value","label"}
          |datetime         UTC, with a fraction of at most six digits if there is one: 2002-09-10T23:08:25.5Z
          |base64           without white space
          |uuid             in lower case
        On a terminal, controls in text and XML are replaced, so that no text steers the terminal; other programs get
        the text unchanged. Missing parts of a form or a field are null, or an empty array. A field of an item has the
        type and the label from the form's <reported/>. With --json every line is a JSON value: text, XML, datetime,
        base64 and uuid are strings, bool and numbers are themselves.

        Exit status: 0 if there is a result, 1 if there is none, 65 if the XML or the query is malformed (the message
        says where), if arguments are missing or left over, or if FILE cannot be read. Results before the error in a
        stream have been printed then.

        examples:
          kalij query 'body#' message.xml
          kalij query --stream '/{jabber:client}message<type=chat>/body#' log.xml
          kalij query --stream '/<from=%@>' romeo@example.org/garden < log.xml
          kalij query '{urn:xmpp:delay}delay@stamp|datetime' message.xml
          kalij query '{jabber:iq:roster}query/item<jid=%@>@name' romeo@example.org roster.xml
          kalij query --stream --json '/presence/@@' log.xml | jq -r .from
        data forms:
          kalij query '{*}query/\\{urn:xmpp:http:upload:0}result@max-file-size\\|int' disco.xml
          kalij query '{*}command/\\[0]@expire\\|datetime' invite.xml
          kalij query '{*}query/\\form&muc#roomconfig_whois\\' room.xml | jq -r '.options[].label'
          kalij query '{*}query/\\result\\' search.xml | jq '.items[] | map({(.name): .values[0]}) | add'
        """
    static let options: [Arguments.Option] = [.flag("--stream", "read a stream; ask each of its stanzas")]
    static let usesAccounts = false

    /// A log contains stanzas that a server has accepted, so the limits are wider than those of a connection.
    private static let limits = ParserLimits(
        stanzaBytes: 16 << 20, hardStanzaBytes: 1 << 30, depth: 4_096, attributes: 65_536, children: 1 << 24,
        elements: 1 << 24, nameBytes: 1 << 20, valueBytes: 16 << 20)
    /// A single element is in memory anyway, and the user's own choice.
    private static let elementLimits = ParserLimits(
        stanzaBytes: 1 << 30, hardStanzaBytes: 1 << 30, depth: 65_536, attributes: 1 << 24, children: 1 << 30,
        elements: 1 << 30, nameBytes: 1 << 30, valueBytes: 1 << 30)

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...Int.max - 1)
        let (query, file): (Query<QueryResult>, String?)
        do { (query, file) = try compile(arguments.operands) } catch let error as QuerySyntaxError {
            throw Failure(.badInput, message(error))
        }
        var printer = ResultPrinter(json: shared.json, isForPeople: isatty(STDOUT_FILENO) == 1)
        let input = Input(path: file)
        do {
            if arguments.has("--stream") {
                try readStream(input) { stanza in try printer.print(stanza.find(query)) }
            } else {
                try printer.print(readElement(input).find(query))
            }
        } catch let error as XMLError {
            throw Failure(.badInput, input.message(error))
        } catch is OutputClosed {
            // The reader, such as `head`, has closed its end.
            return .done
        }
        return printer.isEmpty ? .nothing : .done
    }

    /// The query with its arguments, and the word after the arguments, if there is one.
    private static func compile(_ words: [String]) throws -> (Query<QueryResult>, file: String?) {
        let given = Array(words.dropFirst())
        let needed = try Query<QueryResult>.specifiers(in: words[0])
        guard given.count >= needed else {
            throw Failure(.badInput, "the query has \(needed) % specifiers, \(given.count) arguments were given")
        }
        guard given.count <= needed + 1 else {
            throw Failure(.badInput, "superfluous argument \"\(given[needed + 1])\"")
        }
        let query = try Query<QueryResult>(parsing: words[0], arguments: Array(given.prefix(needed)))
        return (query, given.count > needed ? given[needed] : nil)
    }

    /// The error in the query, with its position: a query may have several lines.
    private static func message(_ error: QuerySyntaxError) -> String {
        let before = error.query.prefix(error.column - 1)
        let line = before.count(where: \.isNewline) + 1
        let column = before.reversed().prefix { !$0.isNewline }.count + 1
        return "query \"\(error.query)\", line \(line), column \(column): \(error.problem)"
    }

    private static func readElement(_ input: Input) throws -> Element {
        try Element.parse(
            try Files.contents(input.path, limit: elementLimits.stanzaBytes), limits: elementLimits)
    }

    private static func readStream(_ input: Input, _ body: (Element) throws -> Void) throws {
        let parser = StreamParser(limits: limits)
        func handle(_ event: StreamParserEvent) throws {
            switch event {
            case .element(let stanza): try body(stanza)
            case .skipped(let skipped):
                Output.notice(
                    "\(input.place(skipped.line)): skipped a <\(skipped.name)> over the limit on \(skipped.limit)")
            case .opened, .closed: break
            }
        }
        try Files.read(input.path) { try parser.feed($0, handle) }
        try parser.finish(handle)
    }
}

/// The source of XML, for messages.
private struct Input {
    /// nil, or "-", for standard input.
    let path: String?

    private var isFile: Bool { path != nil && path != "-" }

    /// The error and its place, in the form that editors understand.
    func message(_ error: XMLError) -> String {
        guard isFile, let path else { return "standard input, \(error)" }
        return "\(path):\(error.line):\(error.column): \(error.text) (\(error.condition))"
    }

    func place(_ line: Int) -> String {
        guard isFile, let path else { return "standard input, line \(line)" }
        return "\(path):\(line)"
    }
}
