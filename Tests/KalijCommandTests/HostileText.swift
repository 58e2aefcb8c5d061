import KalijText
import TestSupport

/// Texts of an inventive stranger, and the checks of their printed form.
struct HostileText {
    private var random: Seeded

    init(_ seed: UInt64) { random = Seeded(RandomInput.seed(seed)) }

    /// A line that must not appear.
    static let forgery = "2026-01-01T00:00:00Z from boss@example.org: FORGED"

    /// All of C0, DEL and C1, the bidirectional controls, the separators of lines and paragraphs.
    static let scalars: Set<Unicode.Scalar> = Set(
        (Array(0...0x1F) + Array(0x7F...0x9F) + [0x061C, 0x200E, 0x200F, 0x2028, 0x2029] + Array(0x202A...0x202E)
            + Array(0x2066...0x2069)).compactMap { Unicode.Scalar($0 as UInt32) })

    private static let pieces: [String] =
        scalars.sorted().map { "\($0)" } + [
            "\r\n", "\u{1B}[2J\u{1B}[H", "\u{1B}]0;title\u{07}", "é", "<b/>", "\"", "\\", "  ",
        ]
    private static let lineEnds = ["\n", "\r", "\r\n", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}"]

    /// Any text; always with a line that looks like the program's.
    mutating func next() -> String {
        var text = "x"
        for _ in 0..<random.below(8) { text += random.pick(Self.pieces) }
        text += random.pick(Self.lineEnds) + Self.forgery
        for _ in 0..<random.below(8) { text += random.pick(Self.pieces) }
        return text
    }

    /// The same, without characters that XML cannot carry.
    mutating func xml() -> String {
        String(String.UnicodeScalarView(next().unicodeScalars.filter { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" }))
            .replacing("<b/>", with: "")
    }

    /// The fault of `text` as printed; nil if there is none.
    static func fault(in text: PrintedText) -> String? {
        let bad = text.description.unicodeScalars.filter { scalars.contains($0) && $0 != "\n" }
        if let first = bad.first { return "U+\(String(first.value, radix: 16)) is printed" }
        let lines = text.description.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines.dropFirst() where !String(line).hasPrefix("    ") {
            return "a line that continues another one is not indented: \(String(line).prefix(40))"
        }
        return nil
    }

    /// The fault of `text` as another program's line of results, with tabs between the parts; nil if there is none.
    static func fault(inLine text: PrintedText, tabs: Bool = false) -> String? {
        let bad = text.description.unicodeScalars.filter { scalars.contains($0) && !(tabs && $0 == "\t") }
        return bad.first.map { "U+\(String($0.value, radix: 16)) is printed" }
    }
}
