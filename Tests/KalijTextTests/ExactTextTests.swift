import KalijText
import Testing

/// "Keys by bytes, tests by scalars, limits in bytes."
@Suite struct ExactTextTests {
    @Test(
        "texts that are canonically equivalent are two identifiers, in comparisons, sets, dictionaries and orders",
        arguments: [
            ("\u{FA70}", "\u{4E26}"), ("é", "e\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}"),
            ("\u{1B06}", "\u{1B05}\u{1B35}"),
        ])
    func equivalent(one: String, other: String) {
        #expect(one == other)
        #expect(one.exact != other.exact && one.exact == one.exact)
        #expect(Set([one, other].map(\.exact)).count == 2)
        #expect((one.exact < other.exact) != (other.exact < one.exact))
        #expect(!("room" + one).begins(with: "room" + other) && !("room" + one).ends(with: other))
    }

    @Test("a mark behind a separator, a prefix or a line's end hides none of them")
    func marks() {
        #expect("a;\u{301}b".parts(at: ";") == ["a", "\u{301}b"])
        #expect("a\r\nb\n\u{301}c".parts(at: "\n").map { Array($0.unicodeScalars).count } == [2, 1, 2])
        #expect(" a  \u{301}b\n".words == ["a", "\u{301}b"])
        #expect(
            "".parts(at: ";") == [""] && "".words(at: ";") == [] && "a=b=c".parts(at: "=", most: 2) == ["a", "b=c"])
        #expect("-\u{301}rf".begins(with: "-") && "-\u{301}rf".rest(after: "-")?.exact == "\u{301}rf".exact)
        #expect("x".rest(after: "y") == nil && "x".rest(after: "x") == "")
        #expect("a\u{301}".ends(with: "\u{301}") && !"".ends(with: "a") && "".ends(with: ""))
    }

    @Test("a cut has at most so many bytes, is a prefix by bytes, and does not cut short Characters")
    func cut() {
        let family = "👨‍👩‍👧"
        let monster = "a" + String(repeating: "\u{301}", count: 5_000)
        for text in ["plain", "é日👨‍👩‍👧x", family + family + family, monster, "ab" + monster + "c", "\r\n\r\n", "🇩🇪🇩🇪🇩🇪"] {
            for limit in [0, 1, 2, 3, 7, 18, 19, 40, 100, 1000, 20_000] {
                let cut = text.cut(to: limit)
                #expect(cut.utf8.count <= limit && text.begins(with: cut))
                #expect(cut.exact == text.exact || cut.utf8.count > limit - 64)
                #expect(!cut.unicodeScalars.contains("\u{FFFD}"))
            }
        }
        #expect((family + family).cut(to: 20) == family)
        #expect(monster.cut(to: 1000).utf8.count == 999)
        #expect("\r\n\r\n".cut(to: 3) == "\r\n")
    }
}
