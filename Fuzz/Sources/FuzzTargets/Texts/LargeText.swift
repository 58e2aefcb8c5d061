/// Texts of few Characters and many bytes: a base with any number of marks, sequences of emoji, flags, syllables.
enum LargeText {
    private static let marks = [
        "\u{301}", "\u{323}", "\u{E49}", "\u{20E3}", "\u{FE0F}", "\u{1D165}", "\u{903}", "\u{344}",
    ]
    private static let ends = ["", " ", "\"", "\n", "<", "@", "/", "\r\n", "é", ";", "=", "-"]
    /// In bytes.
    static let longest = 100_000

    /// A Character or several, up to 100 kB together.
    static func text(_ source: inout ByteSource) -> String {
        let bytes = size(&source)
        var (base, part, end) = ("a", source.pick(marks), "")
        switch source.number(below: 8) {
        case 0: (base, part) = ("👩", "\u{200D}👩")
        case 1: (base, part) = ("", "🇦")
        case 2: (base, part, end) = ("\u{1100}", source.pick(["\u{1100}", "\u{1161}", "\u{11A8}"]), "\u{1161}\u{11A8}")
        case 3: (base, part, end) = ("", "\u{600}", "1")
        case 4: base = source.pick(ends)
        case 5: (base, part) = ("क", "\u{94D}क")
        case 6: (base, part) = ("\u{1F3F4}", "\u{E0061}")
        default: break
        }
        let count = max(1, bytes / part.utf8.count)
        return base + String(repeating: part, count: count) + end
    }

    /// Large Characters, and what the input has between them.
    static func texts(_ source: inout ByteSource) -> String {
        var whole = source.text()
        for _ in 0...source.number(below: 3) {
            whole += source.pick(ends) + text(&source) + source.pick(ends) + source.text()
        }
        return whole
    }

    private static func size(_ source: inout ByteSource) -> Int {
        switch source.byte() {
        case 0..<128: source.number(below: 16)
        case 128..<240: Int(source.byte())
        case 240..<254: 900
        // The longest take a hundred times as long as all others: by a byte that libFuzzer does not prefer.
        default: source.byte() == 0x5A ? longest : 300
        }
    }
}
