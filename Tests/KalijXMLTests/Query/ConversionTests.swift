import FoundationEssentials
import KalijXML
import Testing

/// The conversions: "values that do not convert: no result".
@Suite struct ConversionTests {
    private func value<R: QueryValue>(_ text: String, _ query: Query<R>) -> R? {
        Element("a", attributes: ["v": text]).findFirst(query)
    }

    @Test func bool() {
        let accepted = [("true", true), ("1", true), ("false", false), ("0", false)]
        for (text, expected) in accepted { #expect(value(text, "@v|bool") == expected) }
        for text in ["TRUE", "yes", "", " true", "2"] { #expect(value(text, "@v|bool") as Bool? == nil, "\(text)") }
    }

    @Test func integers() {
        #expect(value(" +12\n", "@v|int") == 12)
        #expect(value("-9223372036854775808", "@v|int") == Int.min)
        #expect(value("18446744073709551615", "@v|uint") == UInt.max)
        for text in ["", "-", "1.0", "9223372036854775808", "0x1", "1 2", "١", "--1"] {
            #expect(value(text, "@v|int") as Int? == nil, "\(text)")
        }
        for text in ["-1", "-0", "18446744073709551616"] { #expect(value(text, "@v|uint") as UInt? == nil, "\(text)") }
    }

    @Test func doubles() {
        #expect(value("1.5e3", "@v|double") == 1500.0)
        #expect(value(" -.5 ", "@v|double") == -0.5)
        for text in ["inf", "nan", "1e999", "0x1p3", "", "1,5", "e"] {
            #expect(value(text, "@v|double") as Double? == nil, "\(text)")
        }
    }

    @Test(
        "XEP-0082 date-times",
        arguments: [
            ("1969-07-21T02:56:15Z", -14_159_025.0), ("1969-07-20T21:56:15-05:00", -14_159_025),
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.5Z", 0.5), ("1970-01-01T02:00:00+0200", 0), ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("2000-02-29T00:00:00.123456789123456789123Z", 951_782_400.1234568),
        ])
    func dates(_ text: String, _ seconds: Double) {
        let date: Date? = value(text, "@v|datetime")
        #expect(abs((date?.timeIntervalSince1970 ?? .infinity) - seconds) < 0.0001)
    }

    @Test(
        "texts that are not date-times",
        arguments: [
            "", "2002-09-10", "2002-02-30T00:00:00Z", "2002-13-01T00:00:00Z", "2002-09-10T24:00:00Z",
            "2002-09-10T23:08:25",
            "2002-09-10T23:08:25.Z", "2002-09-10 23:08:25Z", "2002-09-10T23:08:61Z", "2002-09-10T23:08:25Zx",
            "02-09-10T23:08:25Z",
            "2001-02-29T00:00:00Z", "2002-00-10T23:08:25Z", "2002-09-00T23:08:25Z",
        ])
    func noDates(_ text: String) { #expect(value(text, "@v|datetime") as Date? == nil) }

    @Test func base64() {
        #expect(value("aGVs bG8=\n", "@v|base64") == Array("hello".utf8))
        #expect(value("aGVsbG8=", "@v|base64") == Data("hello".utf8))
        for text in ["aGVsbG8", "a", "====", "aGVs*G8="] {
            #expect(value(text, "@v|base64") as Data? == nil, "\(text)")
        }
    }

    @Test func uuids() {
        let uuid = UUID(uuidString: "605818D4-4D16-4ACC-B003-BFA3E11849E1")
        #expect(value("605818D4-4D16-4ACC-B003-BFA3E11849E1", "@v|uuid") == uuid)
        #expect(value("605818d4-4d16-4acc-b003-bfa3e11849e1", "@v|uuidcast") == uuid)
        #expect(value("605818D44D164ACCB003BFA3E11849E1", "@v|uuid") as UUID? == nil)
        // SHA-256 of "abc" begins ba7816bf 8f01cfea 414140de 5dae2223.
        #expect(value("abc", "@v|uuidcast") == UUID(uuidString: "BA7816BF-8F01-4FEA-8141-40DE5DAE2223"))
    }

    @Test("a query of unknown kind gives a result of any kind")
    func dynamic() throws {
        let element = try Element.parse("<a v='1' xmlns='u'>t</a>")
        func result(_ text: String) throws -> QueryResult? { element.findFirst(try Query<QueryResult>(parsing: text)) }
        #expect(try result("") == .element(element))
        #expect(try result("@v") == .text("1"))
        #expect(try result("@v|int") == .int(1))
        #expect(try result("@v|bool") == .bool(true))
        #expect(try result("/@@") == .attributes(["v": "1", "xmlns": "u"]))
        #expect(try result("/#") == .text("t"))
        #expect(try result("@w") == nil)
    }
}
