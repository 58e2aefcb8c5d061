import FoundationEssentials
import KalijXML
import Testing

/// "A type that the query cannot give is an error when the query is compiled": every kind of query with every type.
@Suite struct ResultTypeTests {
    private static let queries: [QueryKind: [String]] = [
        .element: ["", "/", "a", "a/..", "*", "{u}", "a<b=c>", "/<b=c>"],
        .attributes: ["/@@", "a@@"],
        .text: ["@b", "a@b", "a#", "a$", "/\\@f\\", "\\{t}form[0]@f\\"],
        .bool: ["@b|bool", "a#|bool", "\\@f\\|bool"],
        .int: ["@b|int", "a$|int", "\\@f\\|int"],
        .uint: ["@b|uint", "\\@f\\|uint"],
        .double: ["@b|double", "\\@f\\|double"],
        .datetime: ["@b|datetime", "\\@f\\|datetime"],
        .base64: ["a#|base64", "\\@f\\|base64"],
        .uuid: ["@b|uuid", "@b|uuidcast", "\\@f\\|uuid", "\\@f\\|uuidcast"],
        .form: ["\\\\", "/\\\\", "a/\\{t}result\\", "\\[0]\\"],
        .field: ["\\&f\\", "a/\\{t}result[3]&f\\"],
    ]

    private static let kinds: [QueryKind] = [
        .element, .attributes, .text, .bool, .int, .uint, .double, .datetime, .base64, .uuid, .form, .field,
    ]

    private func expect<R: QueryValue>(_ type: R.Type, givenBy kinds: Set<QueryKind>) {
        for (kind, queries) in Self.queries {
            for query in queries where query != "/" {
                if kinds.contains(kind) {
                    #expect((try? Query<R>(parsing: query))?.kind == kind, "\(query) gives \(type)")
                } else {
                    let error = #expect(throws: QuerySyntaxError.self, "\(query) does not give \(type)") {
                        try Query<R>(parsing: query)
                    }
                    #expect(error?.problem.hasPrefix("expected a query that gives") == true)
                    #expect(error?.problem.hasSuffix("this one gives \(kind.rawValue)") == true)
                    #expect(error?.column == query.count + 1)
                }
            }
        }
    }

    @Test func matrix() {
        #expect(Set(Self.kinds) == Set(Self.queries.keys))
        expect(Element.self, givenBy: [.element])
        expect([String: String].self, givenBy: [.attributes])
        expect(String.self, givenBy: [.text])
        expect(Bool.self, givenBy: [.bool])
        expect(Int.self, givenBy: [.int])
        expect(UInt.self, givenBy: [.uint])
        expect(Double.self, givenBy: [.double])
        expect(Date.self, givenBy: [.datetime])
        expect([UInt8].self, givenBy: [.base64])
        expect(Data.self, givenBy: [.base64])
        expect(UUID.self, givenBy: [.uuid])
        expect(DataForm.self, givenBy: [.form])
        expect(DataForm.Field.self, givenBy: [.field])
        expect(QueryResult.self, givenBy: Set(Self.kinds))
    }

    @Test("a custom type says which kinds fit")
    func ownType() {
        struct Length: QueryValue {
            var count: Int
            static func isGiven(by kind: QueryKind) -> Bool { kind == .text || kind == .form }
            static func value(of match: QueryMatch) -> Length? { Length(count: match.text.count) }
        }
        expect(Length.self, givenBy: [.text, .form])
        let length: Length? = Element("abc").findFirst("/$")
        #expect(length?.count == 3)
    }
}
