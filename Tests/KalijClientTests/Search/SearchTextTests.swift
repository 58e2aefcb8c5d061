import KalijAddress
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Words where nobody writes spaces, and signs.
@Suite struct SearchTextTests {
    /// Whether the text is found, by the index and before it is indexed.
    private func isFound(_ words: String, in text: String) throws -> Bool {
        let harness = try StepHarness.caughtUp()
        try harness.accept(text)
        let reader = try HistoryReader(harness.directory)
        func isFound() throws -> Bool {
            try reader.search(try SearchWords(words), of: [harness.account]).hits.map(\.message.body) == [text]
        }
        let before = try isFound()
        while try SearchIndex(database: harness.database).work() {}
        #expect(try isFound() == before)
        return before
    }

    @Test(
        "a part of a text without spaces is found",
        arguments: [
            ("機能", "病院は機能していない"), ("機", "病院は機能していない"), ("い", "病院は機能していない"), ("病院は機能していない", "病院は機能していない"),
            ("权利", "公民的权利"), ("公民 权利", "公民的权利"), ("인간", "인간은"), ("권리", "모든 권리를 가진다"), ("ประชุม", "การประชุมวันนี้"),
            ("v2機能", "新v2機能"), ("ຊີວິດ", "ສິດໃນຊີວິດ"), ("🎉", "party🎉🎉!"), ("❤", "I ❤️ you"), ("👍🏽", "ok 👍"), ("🇩🇪", "go🇩🇪go"),
            ("हिन्दी", "यह हिन्दी है"), ("Café", "im cafe\u{301} um acht"), ("don't", "I don't know"),
        ])
    func found(words: String, text: String) throws {
        #expect(try isFound(words, in: text))
    }

    @Test(
        "what is not there is not found",
        arguments: [
            ("能機", "病院は機能していない"), ("院機", "病院は機能していない"), ("🎈", "party 🎉"), ("🇪🇩", "go🇩🇪"), ("간인", "인간은"),
            ("ประมุข", "การประชุม"),
        ])
    func notFound(words: String, text: String) throws {
        #expect(try !isFound(words, in: text))
    }

    @Test("a corrected text is found by its new words alone, an erased one by none")
    func changed() throws {
        let harness = try StepHarness.caughtUp()
        try harness.accept("公民的权利🎉")
        let index = SearchIndex(database: harness.database)
        while try index.work() {}
        let row = try #require(try harness.number("SELECT id FROM message"))
        try index.textChanged(of: row, from: "公民的权利🎉", to: "病院は")
        func rows(_ words: String) throws -> [Int64] {
            try harness.database.prepare("SELECT rowid FROM search_text WHERE search_text MATCH ?")
                .all([.text(try SearchWords(words).expression)]) { SearchKey(number: $0.integer()).row }
        }
        #expect(try rows("权利").isEmpty && rows("🎉").isEmpty && rows("病院") == [row])
        try index.textChanged(of: row, from: "病院は", to: nil)
        #expect(try rows("病院").isEmpty)
    }

    @Test("the letters without spaces are those of Unicode's scripts")
    func scripts() throws {
        let names = ["Han", "Hiragana", "Katakana", "Bopomofo", "Hangul", "Thai", "Lao", "Khmer", "Myanmar"]
        func pattern(_ property: String) throws -> Regex<AnyRegexOutput> {
            try Regex("[" + names.map { "\\p{\(property)=\($0)}" }.joined() + "]")
                .matchingSemantics(.unicodeScalar)
        }
        let (script, extensions) = (try pattern("Script"), try pattern("Script_Extensions"))
        let letters: Set<Unicode.GeneralCategory> = [
            .otherLetter, .modifierLetter, .letterNumber, .decimalNumber, .nonspacingMark, .spacingMark,
        ]
        for value in UInt32(0xA9)...0x3FFFF {
            guard let scalar = Unicode.Scalar(value), letters.contains(scalar.properties.generalCategory),
                !scalar.properties.isVariationSelector
            else { continue }
            let (text, isLetter) = (String(Character(scalar)), SearchText.Kind(scalar) == .letter)
            if isLetter {
                // The standard library may know the category of a new ideograph and not its script.
                #expect(
                    text.contains(extensions) || scalar.properties.isIdeographic, "\(String(value, radix: 16))")
            } else {
                #expect(!text.contains(script), "\(String(value, radix: 16))")
            }
        }
    }
}
