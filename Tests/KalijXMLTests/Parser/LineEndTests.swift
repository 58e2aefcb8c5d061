import KalijXML
import Testing

/// XML 1.0 section 2.11: a line end is a line feed, written as CR LF, as CR or as LF.
@Suite struct LineEndTests {
    private static let long = String(repeating: "l\u{E9}ng ", count: 200)

    @Test(
        "line ends in a CDATA section are line feeds: libxml2 leaves line ends unchanged when fed in chunks",
        arguments: [
            ("<![CDATA[x\r\ny\rz\n\r]]>", "x\ny\nz\n\n"),
            ("<![CDATA[\r]]>", "\n"),
            ("<![CDATA[\r\n]]>", "\n"),
            ("<![CDATA[\r\r\n\n]]>", "\n\n\n"),
            // Two sections, two line ends.
            ("<![CDATA[x\r]]><![CDATA[\ny]]>", "x\n\ny"),
            ("<![CDATA[x\r]]>\ny", "x\n\ny"),
            // A section delivered by libxml2 in pieces.
            ("<![CDATA[\(long)\r\n\(long)\r\(long)]]>", "\(long)\n\(long)\n\(long)"),
            (
                "<![CDATA[" + String(repeating: "\r\n", count: 500) + "]]>",
                String(repeating: "\n", count: 500)
            ),
            // The pieces have 300 bytes: here they end between CR and LF.
            (
                "<![CDATA[x" + String(repeating: "\r\n", count: 500) + "]]>",
                "x" + String(repeating: "\n", count: 500)
            ),
            (
                "<![CDATA[" + String(repeating: "\r", count: 700) + "]]>",
                String(repeating: "\n", count: 700)
            ),
        ])
    func sections(written: String, text: String) throws {
        #expect(try Array(Element.parse("<a>\(written)</a>").text.utf8) == Array(text.utf8))
        let bytes = Array((streamHeader + "<a>\(written)</a>").utf8)
        let whole = Heard([bytes])
        for place in stride(from: 150, through: bytes.count, by: bytes.count > 1_000 ? 13 : 1) {
            #expect(Heard([Array(bytes[..<place]), Array(bytes[place...])]) == whole, "cut at \(place)")
        }
        for size in [1, 2, 3, 7] { #expect(Heard(chunks(bytes, of: size)) == whole, "by \(size)") }
    }

    @Test("line ends in text are line feeds, in attributes spaces; character references stay")
    func elsewhere() throws {
        #expect(try Element.parse("<a>x\r\ny\rz\n&#13;&#10;</a>").text.utf8.elementsEqual("x\ny\nz\n\r\n".utf8))
        #expect(try Element.parse("<a b='x\r\ny\rz\n&#13;'/>")["b"] == "x y z \r")
    }
}
