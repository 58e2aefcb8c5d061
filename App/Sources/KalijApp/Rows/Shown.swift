import KalijClient

extension String {
    /// A name or an address of others on one line: no character in it changes the writing direction, is hidden, or ends the line.
    public var shownName: String {
        let clean = PrintedText(field: self).description
        guard clean.utf8.count > Shown.longestName else { return clean }
        return String(clean.prefix(Shown.longestName / 4)).beginning(of: Shown.longestName) + "…"
    }

    /// The name of another author at the start of a row: it can imitate neither the user's own name nor the rest of a row, such
    /// as "You, 19:15: Yes".
    var shownAuthor: String {
        let plain = replacing(":", with: " ")
        let rest = plain.lowercased().drop(while: { !$0.isLetter && !$0.isNumber })
        let you = Words.you.lowercased()
        let isYou = rest.hasPrefix(you) && rest.dropFirst(you.count).first?.isLetter != true
        return isYou ? "“" + plain + "”" : plain
    }

    /// A text of others on its own lines, truncated if it is too long to display.
    var shownText: (text: String, isCut: Bool) {
        var lines: [String] = []
        var (rest, isCut, emoji) = (Substring(self), false, 0)
        if rest.utf8.count > Shown.mostBytes {
            rest = Substring(beginning(of: Shown.mostBytes))
            isCut = true
        }
        for line in rest.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            guard lines.count < Shown.mostLines, emoji < Shown.mostEmoji else {
                return (lines.joined(separator: "\n"), true)
            }
            lines.append(PrintedText(field: String(line)).description.breakable(&emoji))
        }
        isCut = isCut || emoji >= Shown.mostEmoji
        return (lines.joined(separator: "\n"), isCut)
    }

    /// The beginning of at most so many bytes: one letter with marks can have any number of them.
    private func beginning(of bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var start = String(decoding: utf8.prefix(bytes), as: UTF8.self)
        while start.last == "\u{FFFD}" { start.removeLast() }
        return start
    }

    /// Whether it has a run without a space so long that the breaks between words would take seconds: Pango's run time is quadratic in its length.
    public var hasLongRun: Bool {
        var run = 0
        for byte in utf8 {
            run = byte <= UInt8(ascii: " ") ? 0 : run + 1
            if run > Shown.longestWord { return true }
        }
        return false
    }

    /// The number of emoji, of which one that is joined counts as several.
    var emojiCost: Int {
        reduce(0) { cost, character in
            guard character.unicodeScalars.first?.properties.isEmojiPresentation ?? false else { return cost }
            return cost + (character.unicodeScalars.contains(Shown.joiner) ? Shown.joinedEmoji : 1)
        }
    }

    /// The line with break opportunities, because Pango's run time is quadratic in the length of a run without any. Truncated
    /// before too many emoji.
    private func breakable(_ emoji: inout Int) -> String {
        guard utf8.count > Shown.longestRun else { return self }
        var (line, run) = ("", 0)
        for character in self {
            run = character.isWhitespace ? 0 : run + 1
            if run > Shown.longestRun {
                line.append(Shown.breakingPlace)
                run = 1
            }
            if let first = character.unicodeScalars.first, first.properties.isEmojiPresentation {
                emoji += character.unicodeScalars.contains(Shown.joiner) ? Shown.joinedEmoji : 1
                guard emoji < Shown.mostEmoji else { return line }
            }
            line.append(character)
        }
        return line
    }

    /// The text without the inserted break opportunities, for copying.
    public var withoutBreakingPlaces: String { filter { $0 != Shown.breakingPlace } }

    /// The beginning of a text, for an announcement.
    public var shownStart: String { String(prefix(300)) }

    /// The beginning of a text as one line.
    var shownLine: String {
        let start = String(self.prefix(while: { !$0.isNewline }).prefix(200))
        let line = start.isEmpty ? String(self.prefix(200)) : start
        return PrintedText(field: line.beginning(of: Shown.longestLine)).description
    }
}

enum Shown {
    /// The limit beyond which a text makes a frame slow.
    static let mostBytes = 8_000
    static let mostLines = 200
    /// The limit of emoji. One that is joined of several takes Pango longer, and forty of them a tenth of a second.
    static let mostEmoji = 150
    static let joinedEmoji = 6
    static let joiner: Unicode.Scalar = "\u{200D}"
    static let longestRun = 60
    static let longestWord = 2_000
    /// The zero width space.
    static let breakingPlace: Character = "\u{200B}"
    static let longestName = 400
    static let longestLine = 800
}
