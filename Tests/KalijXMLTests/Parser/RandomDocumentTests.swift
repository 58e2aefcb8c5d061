import KalijXML
import TestSupport
import Testing

/// Random documents: the tree does not depend on the chunking, and written XML reads back equal.
@Suite struct RandomDocumentTests {
    private static let pieces = [
        "text", " ", "\n", "\r\n", "\r", "&amp;", "&lt;", "&#x20;", "&#13;", "&#128512;", "é", "漢字", "😀", "]]", "]",
        ">",
        "<![CDATA[<&>]]>", "<![CDATA[]]]]>", "<![CDATA[]]>", String(repeating: "long ", count: 80),
    ]

    private func element(_ random: inout Seeded, depth: Int) -> String {
        let prefix = ["", "", "p:", "q:"].randomElement(using: &random) ?? ""
        let name = prefix + (["a", "b", "message", "é.-_"].randomElement(using: &random) ?? "a")
        var tag = "<" + name
        if depth == 0 { tag += " xmlns:p='urn:p' xmlns:q='urn:q'" }
        for attribute in [" x", " p:x", " xml:lang", " y", " q:x"] where Bool.random(using: &random) {
            let value = ["1", "", "&lt;&#10;", "'", "é>", "a\tb\r\nc"].randomElement(using: &random) ?? ""
            tag += attribute + " = \"" + value + "\""
        }
        if Int.random(in: 0..<4, using: &random) == 0 { tag += " xmlns='urn:\(Int.random(in: 0..<3, using: &random))'" }
        if depth > 0, Int.random(in: 0..<6, using: &random) == 0 { tag += " xmlns:p='urn:other'" }
        if Int.random(in: 0..<4, using: &random) == 0 { return tag + "/>" }
        var text = tag + ">"
        for _ in 0..<Int.random(in: 0..<6, using: &random) {
            if depth < 6, Bool.random(using: &random) {
                text += element(&random, depth: depth + 1)
            } else {
                let piece = RandomDocumentTests.pieces.randomElement(using: &random) ?? ""
                // Two pieces must not make a "]]>".
                text += text.hasSuffix("]") && (piece.hasPrefix(">") || piece.hasPrefix("]")) ? "-" : piece
            }
        }
        return text + "</" + name + ">"
    }

    @Test("Random documents: cut anywhere, written and read again", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func documents(seed: UInt64) throws {
        var random = Seeded(RandomInput.seed(seed))
        for _ in 0..<RandomInput.rounds(40) {
            let text = element(&random, depth: 0)
            let whole = try Element.parse(text)
            #expect(try Element.parse(whole.xml()) == whole, "\(text)")
            #expect(try Element.parse(whole.xml()).xml() == whole.xml(), "\(text)")
            #expect(whole.copy() == whole)
            let bytes = Array((streamHeader + text).utf8)
            let expected = Heard([bytes])
            #expect(expected.condition == nil, "\(text)")
            var cut: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...40, using: &random))
                cut.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            #expect(Heard(cut) == expected, "\(text)")
            for size in [1, 7] { #expect(Heard(chunks(bytes, of: size)) == expected, "\(text)") }
        }
    }

    @Test("Random documents with bytes changed at random: never a trap, and the same outcome in other chunks")
    func broken() {
        var random = Seeded(RandomInput.seed(42))
        for _ in 0..<RandomInput.rounds(1_000) {
            var bytes = Array((streamHeader + element(&random, depth: 3)).utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 100..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            let whole = Heard([bytes], finishing: true)
            let cut = Heard(chunks(bytes, of: Int.random(in: 1...20, using: &random)), finishing: true)
            #expect(cut.events == whole.events, "\(String(decoding: bytes, as: UTF8.self))")
            #expect((cut.condition == nil) == (whole.condition == nil), "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
