import KalijXML
import Testing

/// Faults in the parser found by the fuzzers.
@Suite struct ParserRegressionTests {
    // RFC 6120, 4.9.3.22 <unsupported-encoding/>: "the initiating entity has encoded the stream in an encoding that is
    // not supported by the server or has otherwise improperly encoded the stream"
    @Test(
        "a stream with a false mark of UTF-16 was accepted without an error",
        arguments: [
            [0xFE, 0xFF, 0x00, 0x2C, 0xD8, 0xCC, 0x83, 0x12, 0x53], [0xFF, 0xFE, 0x3C, 0x00], [0x00, 0x3C, 0x00, 0x3F],
            [0x3C, 0x00, 0x3F, 0x00], [0x00, 0x00, 0x00, 0x3C],
        ] as [[UInt8]])
    func otherEncoding(_ bytes: [UInt8]) {
        for size in [1, 2, 100] {
            let heard = Heard(chunks(bytes, of: size), finishing: true)
            #expect(heard.events.isEmpty && heard.condition == "unsupported-encoding")
        }
    }

    @Test("the mark of UTF-8 is allowed before a document, text is not; before a stream neither is (RFC 6120, 11.6)")
    func beginning() throws {
        #expect(try Element.parse([0xEF, 0xBB, 0xBF] + Array("<a/>".utf8)).name == "a")
        let marked = Heard([[0xEF, 0xBB], [0xBF], Array((streamHeader + "</stream:stream>").utf8)], finishing: true)
        #expect(marked.condition == "not-well-formed")
        #expect(throws: XMLError.self) { try Element.parse("x<a/>") }
        #expect(Heard("x" + streamHeader).condition == "not-well-formed")
    }

    @Test("overlong forms of UTF-8 were accepted in a CDATA section, and there alone")
    func overlong() throws {
        let header = Array((streamHeader + "<a><![CDATA[é").utf8)
        let overlong: [[UInt8]] = [[0xF0, 0x85, 0x98, 0x80], [0xE0, 0x81, 0x81], [0xC1, 0x81], [0xED, 0xA0, 0x80]]
        for bytes in overlong {
            for size in [1, 3, 1000] {
                let heard = Heard(chunks(header + bytes + Array("]]></a>".utf8), of: size))
                #expect(heard.events.count <= 1 && heard.condition != nil, "\(bytes) \(size)")
            }
        }
        let long = String(repeating: "é漢😀", count: 500)
        for size in [1, 2, 5, 299, 1000] {
            let heard = Heard(chunks(Array((streamHeader + "<a><![CDATA[\(long)]]></a>").utf8), of: size))
            #expect(heard.condition == nil, "\(size)")
        }
    }

    @Test("whether a start tag had too many attributes depended on the chunk of its end")
    func tooManyAttributes() {
        let tag = "<a" + (0..<66_000).map { " a\($0)=''" }.joined() + "/>"
        let bytes = Array((streamHeader + tag).utf8)
        for size in [1_400, 30_000, bytes.count] {
            #expect(Heard(chunks(bytes, of: size)).condition == "policy-violation")
        }
    }

    @Test("the reported limit of a stanza over several limits depended on the chunks")
    func severalLimits() {
        let stanza = "<a><b>" + String(repeating: "t", count: 400) + "</b></a>"
        let bytes = Array((streamHeader + stanza).utf8)
        for size in [1, 7, 100, bytes.count] {
            let heard = Heard(chunks(bytes, of: size), limits: ParserLimits(stanzaBytes: 300, valueBytes: 350))
            #expect(heard.events.last?.hasPrefix("skipped a stanza-bytes \(stanza.utf8.count)") == true)
        }
    }

    // "over the hard limit the stream ends with policy-violation"
    @Test("a stanza over the hard limit was skipped instead, if received in one chunk")
    func hardLimitInOneChunk() {
        let bytes = Array((streamHeader + "<a>" + String(repeating: "t", count: 1_100) + "</a><b/>").utf8)
        for size in [1, 100, bytes.count] {
            let heard = Heard(chunks(bytes, of: size), limits: ParserLimits(stanzaBytes: 300, hardStanzaBytes: 1_024))
            #expect(heard.events.count == 1 && heard.condition == "policy-violation")
        }
    }
}
