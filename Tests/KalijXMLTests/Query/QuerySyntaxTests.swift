import KalijXML
import Testing

/// "A syntax error is found when the query is compiled, never lazily, and names the column and what was expected."
@Suite struct QuerySyntaxTests {
    @Test(
        "errors name the column",
        arguments: [
            ("a//b", 3), ("a/", 3), ("/", 2), ("//a", 2), ("a|bool", 2), ("a@", 3), ("@", 2), ("a@@|int", 4),
            ("a@b|what", 5),
            ("a@b|", 5), ("a@b|int|int", 8), ("{", 2), ("{x", 3), ("{}a", 2), ("!", 2), ("!/a", 2), ("a<", 3),
            ("a<b", 4),
            ("a<b=", 5), ("a<b=>", 5), ("a<b=c", 6), ("a<b~(>", 6), ("a<b=%q>", 6), ("a<b=%>", 6), ("..a", 3),
            ("..#", 3),
            ("..<a=b>", 3), ("a#b", 3), ("a$/b", 3), ("1a", 1), ("a b", 2), ("é//", 3), ("a#|int ", 4), ("a%@", 2),
        ])
    func columns(_ query: String, _ column: Int) {
        let error = #expect(throws: QuerySyntaxError.self, "\(query)") { try Query<QueryResult>(parsing: query) }
        #expect(error?.column == column, "\(query): \(error?.description ?? "")")
        #expect(error?.problem.hasPrefix("expected ") == true)
    }

    @Test(
        "queries that compile",
        arguments: [
            "", "/", "a", "..", "../", "../..", "..//a", "..//..", "/..", "a/..//@b", "*", "{*}", "{a}*", "{a}", "!a",
            "#", "$", "@@", "/#",
            "<a=b>", "/<a=b>/c", "a.b-c_d", "@xml:lang", "@{u}b|uuid", "a<b~[/>", "a<xml:lang=de>#|base64",
            "stream:error",
        ])
    func compiles(_ query: String) {
        if query == "/" || query == "a<b~[/>" {
            #expect(throws: QuerySyntaxError.self) { try Query<QueryResult>(parsing: query) }
        } else {
            #expect(throws: Never.self, "\(query)") { try Query<QueryResult>(parsing: query) }
        }
    }

    @Test("a type that the query cannot give is a compile error")
    func types() {
        #expect(throws: QuerySyntaxError.self) { try Query<Int>(parsing: "a#") }
        #expect(throws: QuerySyntaxError.self) { try Query<String>(parsing: "a") }
        #expect(throws: QuerySyntaxError.self) { try Query<Element>(parsing: "a@b") }
        #expect(throws: QuerySyntaxError.self) { try Query<Bool>(parsing: "a@b|int") }
        #expect(throws: QuerySyntaxError.self) { try Query<String>(parsing: "a@@") }
        #expect(throws: Never.self) { try Query<UInt>(parsing: "a@b|uint") }
    }

    @Test("too many or too few arguments are an error")
    func argumentCount() {
        #expect(throws: QuerySyntaxError.self) { try Query<QueryResult>(parsing: "a<b=%@>") }
        #expect(throws: QuerySyntaxError.self) { try Query<QueryResult>(parsing: "a<b=%@>", arguments: ["1", "2"]) }
        #expect(throws: Never.self) { try Query<QueryResult>(parsing: "a<b=%@><c=%lld>", arguments: ["1", "2"]) }
    }

    @Test("the cache is bounded: ten thousand queries from text")
    func cache() throws {
        for number in 0..<10_000 {
            let query = try Query<String>(parsing: "a<b=\(number)>@c")
            #expect(query.kind == .text)
        }
    }
}
