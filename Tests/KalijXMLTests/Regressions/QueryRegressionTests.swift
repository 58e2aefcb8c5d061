import KalijXML
import Testing

/// Faults in the query compiler found by the fuzzers.
@Suite struct QueryRegressionTests {
    @Test("a U+0000 in a text counted as an interpolated value, and later columns were too far right")
    func zero() {
        let text = "<x=1\u{0}\u{0}#"
        for error in [
            #expect(throws: QuerySyntaxError.self) { try Query<QueryResult>(parsing: text) },
            #expect(throws: QuerySyntaxError.self) { _ = try Query<QueryResult>.specifiers(in: text) },
        ] {
            #expect(error?.column == 5 && error?.query == text)
        }
    }
}
