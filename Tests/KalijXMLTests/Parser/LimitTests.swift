import KalijXML
import TestSupport
import Testing

/// "A well-formed stanza over a limit is skipped in constant memory and delivered as such, with its first 64 KiB; over
/// the hard limit (16 MiB) the stream ends with policy-violation."
@Suite struct LimitTests {
    private func skip(_ stanza: String, _ limits: ParserLimits = .init(), by size: Int = 4_096) -> SkippedElement? {
        let bytes = Array((streamHeader + " " + stanza + "<after/>").utf8)
        var skipped: SkippedElement?
        var names: [String] = []
        let parser = StreamParser(limits: limits)
        do {
            for chunk in chunks(bytes, of: size) {
                try parser.feed(chunk) { event in
                    if case .skipped(let element) = event { skipped = element }
                    if case .element(let element) = event { names.append(element.name) }
                }
            }
        } catch {
            Issue.record("\(error)")
        }
        #expect(names == ["after"])
        #expect(skipped?.byteCount == stanza.utf8.count)
        #expect(skipped.map { $0.prefix == Array(stanza.utf8.prefix(limits.prefixBytes)) } == true)
        return skipped
    }

    private func nested(_ levels: Int) -> String {
        "<message from='x@y' id='1'>" + String(repeating: "<a>", count: levels)
            + String(repeating: "</a>", count: levels)
            + "</message>"
    }

    @Test("as deep as a stanza of 1 MiB can be nested is skipped", arguments: [12_000, 149_000])
    func depth(_ levels: Int) throws {
        let skipped = try #require(skip(nested(levels), by: 16_384))
        #expect(skipped.limit == .depth)
        #expect(skipped.name == "message")
        #expect(skipped.namespace == "jabber:client")
        #expect(skipped.attributes == ["from": "x@y", "id": "1"])
    }

    @Test("still deeper nesting ends the stream, before it costs more than 12 times the stanza limit")
    func tooDeep() {
        #expect(Heard(streamHeader + nested(164_000)).condition == "policy-violation")
    }

    @Test("the depth limit itself is allowed, one level more is not")
    func exactDepth() {
        let limits = ParserLimits(depth: 3)
        #expect(Heard(streamHeader + "<m><a><b/></a></m>", limits: limits).events.last?.hasPrefix("<m") == true)
        #expect(
            Heard(streamHeader + "<m><a><b><c/></b></a></m>", limits: limits).events.last == "skipped m depth 25 25")
    }

    @Test("every limit skips, whatever the chunking")
    func everyLimit() throws {
        let limits = ParserLimits(
            stanzaBytes: 200, depth: 4, attributes: 3, children: 4, elements: 7, nameBytes: 16, valueBytes: 64,
            prefixBytes: 40)
        let cases: [(String, SkippedElement.Limit)] = [
            (
                "<m from='f'>\(String(repeating: "<a>x</a> ", count: 1))<b>\(String(repeating: "y ", count: 30))"
                    + "</b> <c d='\(String(repeating: "z", count: 60))'/><c d='\(String(repeating: "z", count: 60))'/> </m>",
                .stanzaBytes
            ),
            ("<m from='f'><a a='1' b='2' c='3' d='4'/></m>", .attributes),
            ("<m from='f' xmlns:p='q' b='2' c='3'/>", .attributes),
            ("<m from='f'><a/><a/><a/><a/><a/></m>", .children),
            ("<m from='f'><a><b/><b/><b/></a><a><b/><b/></a></m>", .elements),
            ("<m from='f'><\(String(repeating: "n", count: 17))/></m>", .nameBytes),
            ("<m from='f'><a b='\(String(repeating: "n", count: 65))'/></m>", .valueBytes),
            ("<m from='f'>\(String(repeating: "n", count: 65))</m>", .valueBytes),
        ]
        for (text, limit) in cases {
            for size in [1, 7, 64, 4_096] {
                let skipped = skip(text, limits, by: size)
                #expect(skipped?.limit == limit, "\(text) by \(size)")
                #expect(skipped?.attributes["from"] == "f")
            }
        }
    }

    /// libxml2 itself ends at 10 MB of a value; `make test` goes so far with one filling, the long form with all.
    private func huge(_ filling: String) -> String {
        let count = filling == "x" || RandomInput.isLong ? 10_000_001 : 1_500_000
        return String(repeating: filling, count: count / filling.utf8.count)
    }

    @Test("a start tag with an attribute of megabytes is skipped", arguments: ["x", ">", "&amp;"])
    func hugeAttribute(_ filling: String) throws {
        let value = huge(filling)
        let skipped = try #require(skip("<message from='a@b' body='\(value)'/>", by: 1_400))
        #expect(skipped.attributes == ["from": "a@b"])
    }

    @Test(
        "the left out part of a huge attribute is read nevertheless",
        arguments: [
            ("<", "not-well-formed"), ("&foo;", "restricted-xml"), ("\u{1}", "not-well-formed"),
            ("& ", "not-well-formed"), ("&#0;", "not-well-formed"),
        ])
    func hugeMalformedAttribute(_ bad: String, _ condition: String) {
        let fillings = bad == "<" || RandomInput.isLong ? ["x", "€", "&#x20AC;", "]]>"] : ["€"]
        for filling in fillings {
            let value = String(repeating: filling, count: 1_500_000 / filling.utf8.count)
            let bytes = Array((streamHeader + "<message a='\(value)\(bad)\(value.prefix(5_000))'/>").utf8)
            #expect(Heard(chunks(bytes, of: 1_400)).condition == condition, "\(filling) \(bad)")
        }
    }

    @Test("attributes after a huge attribute, and stanzas after both, are unchanged")
    func afterHugeAttribute() throws {
        let value = String(repeating: "é&lt;>", count: 160_000)
        let tag = "<m a='\(value)' from='f@g' b=\"\(value)'\" c=''><d/></m>"
        for size in [1_399, 30_000] {
            #expect(skip(tag, by: size)?.attributes == ["from": "f@g", "c": ""])
            #expect(skip("<o><n>\(tag)</n>\(tag)</o>", by: size)?.limit == .stanzaBytes)
        }
        let bytes = Array((streamHeader + tag + "\n<x>").utf8)
        let parser = StreamParser()
        for chunk in chunks(bytes, of: 1_400) { try parser.feed(chunk) { _ in } }
        let error = #expect(throws: XMLError.self) { try parser.feed(Array("</y>".utf8)) { _ in } }
        #expect(error?.line == 2)
    }

    @Test("a CDATA section of megabytes is skipped", arguments: ["x", "]", "é", ">"])
    func hugeSection(_ filling: String) throws {
        let value = huge(filling)
        _ = try #require(skip("<message><body><![CDATA[\(value)]]></body></message>", by: 1_400))
    }

    @Test("many attributes, many declarations and many names do not stop the stream")
    func manyNames() throws {
        let attributes = (0..<50_000).map { " a\($0)=''" }.joined()
        #expect(skip("<m from='f'\(attributes)/>")?.limit == .attributes)
        let declarations = (0..<20_000).map { " xmlns:a\($0)='u'" }.joined()
        #expect(skip("<m from='f'\(declarations)/>")?.limit == .attributes)
        let names = (0..<170_000).map { "<a\($0)/>" }.joined()
        // Too many children, too, but the reported limit is 1 MiB, for any cuts.
        #expect(skip("<m from='f'>\(names)</m>")?.limit == .stanzaBytes)
    }

    @Test(
        "a stanza that reaches the hard limit ends the stream, in bounded memory",
        arguments: [
            "x", "<a>", "<a/>", "<a b='", "<![CDATA[", "<!-- ", "<", "&",
        ])
    func hardLimit(_ beginning: String) throws {
        // libxml2 itself has limits below 16 MiB.
        let isWhole = ["x", "<a b='"].contains(beginning) || RandomInput.isLong
        let limits = isWhole ? ParserLimits() : ParserLimits(hardStanzaBytes: 2 << 20)
        let parser = StreamParser(limits: limits)
        let piece = [UInt8](
            (beginning.hasPrefix("<a") && beginning.hasSuffix(">")
                ? String(repeating: beginning, count: 10_000) : String(repeating: "y", count: 40_000)).utf8)
        try parser.feed(Array((streamHeader + "<message>" + beginning).utf8)) { _ in }
        var count = 0
        do {
            while count < 100_000_000 {
                try parser.feed(piece) { _ in }
                count += piece.count
            }
            Issue.record("100 MB were accepted")
        } catch let error as XMLError {
            let early = ["&": "not-well-formed", "<!-- ": "restricted-xml"]
            #expect(error.condition == early[beginning] ?? "policy-violation")
        }
        #expect(count <= limits.hardStanzaBytes)
    }

    @Test("stanzas without repeated names, a million in the long form: the stream stays alive")
    func newNames() throws {
        let parser = StreamParser()
        try parser.feed(Array(streamHeader.utf8)) { _ in }
        var (count, next) = (0, 0)
        while next < RandomInput.rounds(100_000) {
            var text = ""
            for _ in 0..<500 {
                text += "<a\(next) b\(next)='1'/>\n"
                next += 1
            }
            for chunk in chunks(Array(text.utf8), of: 1_400) {
                try parser.feed(chunk) { event in
                    guard case .element(let element) = event, element.isNamed("a\(count)", "jabber:client") else {
                        return
                    }
                    count += 1
                }
            }
        }
        #expect(count == next)
    }
}
