/// The form of a text in the index: words separated by spaces, for FTS5's tokenizer `unicode61`.
///
/// Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are written without spaces between words, or with particles joined to them.
/// In a run of their letters, each pair of neighbours is a word of the index, and the last letter is one: so each part of the run is
/// found by its consecutive pairs. A sign (emoji) is a word. Of words with spaces between them the beginnings are found. Index and search
/// have to agree: a change of the segmentation requires an empty index.
enum SearchText {
    private enum Segment {
        /// Text that the tokenizer segments.
        case plain(String)
        case run([Unicode.Scalar])
        case signs([Unicode.Scalar])
    }

    /// The text for the index.
    static func indexed(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0xC2 }) else { return text }
        var indexed = ""
        for segment in segments(of: text) {
            switch segment {
            case .plain(let text): indexed += text
            case .run(let letters):
                // characters: scalars.
                indexed += " " + pairs(of: letters) + " " + words(letters.suffix(1)) + " "
            case .signs(let signs): indexed += " " + words(signs) + " "
            }
        }
        return indexed
    }

    /// The query for a word of a search, in FTS5's language: words that begin with it.
    static func expressions(for word: String) -> [String] {
        segments(of: word).map { segment in
            switch segment {
            case .plain(let text): quoted(text) + " *"
            // The letter begins a pair, or is the last.
            case .run(let letters) where letters.count == 1: quoted(String(letters)) + " *"
            case .run(let letters): quoted(pairs(of: letters))
            case .signs(let signs): quoted(words(signs))
            }
        }
    }

    /// The query for each part of a word that the tokenizer segments.
    static func spacedExpressions(for word: String) -> [String] {
        segments(of: word).compactMap { if case .plain(let text) = $0 { quoted(text) + " *" } else { nil } }
    }

    /// The parts of a word in letters of scripts without spaces, and its signs.
    static func runs(in word: String) -> [[Unicode.Scalar]] {
        segments(of: word).compactMap {
            switch $0 {
            case .plain: nil
            case .run(let scalars), .signs(let scalars): scalars
            }
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.parts(at: "\"").joined(separator: "\"\"") + "\""
    }

    private static func pairs(of letters: [Unicode.Scalar]) -> String {
        zip(letters, letters.dropFirst()).map { String([$0, $1]) }.joined(separator: " ")
    }

    private static func words(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        scalars.map { String($0) }.joined(separator: " ")
    }

    private static func segments(of text: String) -> [Segment] {
        var segments: [Segment] = []
        var (kind, scalars) = (Kind.plain, [Unicode.Scalar]())
        func end() {
            guard !scalars.isEmpty else { return }
            switch kind {
            case .plain, .ignored: segments.append(.plain(String(scalars)))
            case .letter: segments.append(.run(scalars))
            case .sign: segments.append(.signs(scalars))
            }
            scalars = []
        }
        for scalar in text.unicodeScalars {
            let next = Kind(scalar)
            if next == .ignored { continue }
            if next != kind { end() }
            kind = next
            scalars.append(scalar)
        }
        end()
        return segments
    }

    enum Kind {
        case plain
        /// A letter of a script without spaces between words.
        case letter
        case sign
        /// A modifier of the preceding scalar: a variation selector, a skin tone, a joiner.
        case ignored

        init(_ scalar: Unicode.Scalar) {
            // The first sign is U+00A9.
            guard scalar.value >= 0xA9 else { self = .plain; return }
            let properties = scalar.properties
            switch properties.generalCategory {
            case .otherSymbol: self = .sign
            case .format where scalar == "\u{200D}": self = .ignored
            case _ where properties.isVariationSelector || properties.isEmojiModifier: self = .ignored
            case .otherLetter, .modifierLetter, .letterNumber, .decimalNumber, .nonspacingMark, .spacingMark:
                self = Kind.spaceless.contains { $0.contains(scalar.value) } ? .letter : .plain
            default: self = .plain
            }
        }

        /// The blocks of these scripts; `SearchTextTests` compares them with Unicode's scripts.
        private static let spaceless: [ClosedRange<UInt32>] = [
            0x0E00...0x0EFF,  // Thai, Lao
            0x1000...0x109F, 0xA9E0...0xA9FF, 0xAA60...0xAA7F, 0x116D0...0x116E3,  // Myanmar
            0x1100...0x11FF, 0x302E...0x302F, 0x3130...0x318F, 0xA960...0xA97F, 0xAC00...0xD7FF,  // Hangul
            0x1780...0x17FF,  // Khmer
            0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x3029, 0x3038...0x303B, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xF900...0xFAFF, 0x16FE2...0x16FE3, 0x16FF0...0x16FF1, 0x20000...0x3FFFF,  // Han
            0x3041...0x30FF, 0x3105...0x312F, 0x31A0...0x31FF, 0xFF66...0xFFDC, 0x1AFF0...0x1B16F,  // Kana, Bopomofo
        ]
    }
}

extension String {
    init(_ scalars: some Sequence<Unicode.Scalar>) {
        self.init()
        unicodeScalars.append(contentsOf: scalars)
    }
}
