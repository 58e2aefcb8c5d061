import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

enum QueryCommand: Command {
    static let name = "query"
    static let usage = "QUERY [ARG...] [--stream] [FILE]"
    static let summary = "run a query over XML"
    static let details = """
        Runs a query over one element, or with --stream over each stanza of a whole stream (header included), from FILE
        or standard input, and prints one result a line: text as it is, an element as its XML, attributes as JSON. With
        --json every line is one JSON value. The first words after QUERY fill its % specifiers, one more is FILE. With
        --stream results come as the stanzas do, and memory does not grow.
        Exit status 1 if there is no result, 65 for bad XML or a bad query, with line and column.

        examples:
          kalij query 'body#' message.xml
          kalij query --stream '/{jabber:client}message<type=chat>/body#' log.xml
          kalij query '{urn:xmpp:delay}delay@stamp|datetime' < message.xml
          kalij query '{jabber:iq:roster}query/item<jid=%@>@name' romeo@example.org roster.xml
        """
    static let options: [Arguments.Option] = [.flag("--stream", "the input is a stream; ask each of its stanzas")]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...Int.max - 1)
        let (query, file) = try compile(arguments.words)
        var printer = ResultPrinter(json: shared.json)
        if arguments.has("--stream") {
            try readStream(file) { stanza in try printer.print(stanza.find(query)) }
        } else {
            let element = try Element.parse(try Files.contents(file, limit: 64 << 20))
            try printer.print(element.find(query))
        }
        return printer.isEmpty ? .nothing : .done
    }

    /// The query with its arguments, and the word behind them, if there is one.
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

    private static func readStream(_ file: String?, _ body: (Element) throws -> Void) throws {
        let parser = StreamParser()
        func handle(_ event: StreamParserEvent) throws {
            switch event {
            case .element(let stanza): try body(stanza)
            case .skipped(let skipped):
                Output.note("line \(skipped.line): skipped a <\(skipped.name)> over the limit on \(skipped.limit)")
            case .opened, .closed: break
            }
        }
        try Files.read(file) { try parser.feed($0, handle) }
        try parser.finish(handle)
    }
}

/// Prints results, one a line.
struct ResultPrinter {
    let json: Bool
    private(set) var isEmpty = true

    init(json: Bool) { self.json = json }

    mutating func print(_ results: [QueryResult]) throws {
        guard !results.isEmpty else { return }
        isEmpty = false
        var text = ""
        for result in results { text += try line(result) + "\n" }
        Output.bytes(Array(text.utf8))
    }

    private func line(_ result: QueryResult) throws -> String {
        switch result {
        case .attributes(let attributes): return try JSONLine.of(attributes)
        case .bool(let value): return value ? "true" : "false"
        case .int(let value): return String(value)
        case .uint(let value): return String(value)
        case .double(let value): return json ? try JSONLine.of(value) : String(value)
        default:
            let text = try self.text(result)
            return json ? try JSONLine.of(text) : text
        }
    }

    private func text(_ result: QueryResult) throws -> String {
        switch result {
        case .element(let element): element.xml()
        case .text(let text): text
        case .date(let date): Stamp.of(date)
        case .bytes(let bytes): Data(bytes).base64EncodedString()
        case .uuid(let uuid): uuid.uuidString.lowercased()
        default: try JSONLine.of("\(result)")
        }
    }
}
