import Foundation
import KalijText
import Testing

/// "One function cleans everything that is printed for people."
@Suite struct CleaningTests {
    /// All of C0, DEL and C1, the bidirectional controls, the separators, the byte order mark, and tags.
    static let hostile: [Unicode.Scalar] =
        (Array(0...0x1F) + Array(0x7F...0x9F) + [0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF]
        + Array(0xE0000...0xE007F) + Array(0x202A...0x202E) + Array(0x2066...0x2069)).compactMap {
            Unicode.Scalar($0 as UInt32)
        }

    @Test("a control, a bidirectional control or a separator of lines passes into no form")
    func nothingPasses() {
        for scalar in Self.hostile {
            for form in [CleaningForm.lines, .field, .xml, .json] {
                let clean = "a\(scalar)b".cleaned(for: form)
                let left = clean.unicodeScalars.filter { Self.hostile.contains($0) }
                #expect(left.isEmpty || (form == .lines && String(left) == "\n"), "\(scalar.value) \(form)")
            }
        }
    }

    @Test("a body with a line feed forges no line: the continuation is indented, for each kind of line end")
    func indented() {
        for end in ["\n", "\r", "\r\n", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}"] {
            let line: PrintedText = "from bob: \("Hi\(end)2026-01-01 from alice: forged")"
            #expect(line.description == "from bob: Hi\n    2026-01-01 from alice: forged")
            #expect(PrintedText(field: "a\(end)b").description == "a b")
        }
    }

    @Test("for people: a tab is a space, controls of direction are left out, another control leaves a mark")
    func replaced() {
        #expect("a\tb\u{1B}[2Jc\u{202E}d\u{9B}e".cleaned(for: .lines) == "a b\u{FFFD}[2Jcd\u{FFFD}e")
        #expect("Grüße, שלום 👩‍👩‍👧 e\u{301}".cleaned(for: .lines) == "Grüße, שלום 👩‍👩‍👧 e\u{301}")
    }

    @Test("tags hide no text behind another; the flag of a region stays")
    func tags() {
        let scotland = "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}"
        #expect("\(scotland) a\u{E0061}\u{FEFF}b".cleaned(for: .lines) == "\(scotland) ab")
    }

    @Test("JSON and XML lose nothing") func lossless() throws {
        let text = String(String.UnicodeScalarView(Self.hostile)) + "é\"\\<&\u{202E}"
        let json = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
        #expect(try JSONDecoder().decode([String].self, from: Data(json.cleaned(for: .json).utf8)) == [text])
        #expect(PrintedText(xml: "<a>b\u{202E}\nc</a>").description == "<a>b&#x202e;&#xa;c</a>")
    }

    @Test("the program's own words stay, also when joined")
    func own() {
        let inner: PrintedText = "one\ntwo"
        var text: PrintedText = "<\(inner)>" + "\t"
        text += "\(1)"
        #expect(text.description == "<one\ntwo>\t1")
        #expect([inner, "three"].joined(separator: ", ").description == "one\ntwo, three")
    }
}
