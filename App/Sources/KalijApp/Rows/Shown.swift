import KalijClient

extension String {
    /// Other people's name or address on one line: nothing in it turns the direction of writing, hides, or ends the line.
    public var shownName: String {
        let clean = PrintedText(field: self).description
        return clean.utf8.count <= Shown.longestName ? clean : String(clean.prefix(Shown.longestName / 4)) + "…"
    }

    /// Another author's name at the beginning of a row: nobody is called as the user is, and in no name is the rest of a row, "You, 19:15: Yes".
    var shownAuthor: String {
        let plain = replacing(":", with: " ")
        let rest = plain.lowercased().drop(while: { !$0.isLetter && !$0.isNumber })
        let you = Words.you.lowercased()
        let isYou = rest.hasPrefix(you) && rest.dropFirst(you.count).first?.isLetter != true
        return isYou ? "“" + plain + "”" : plain
    }

    /// Other people's text on its own lines, cut if it is longer than anybody reads on a screen.
    var shownText: (text: String, isCut: Bool) {
        var lines: [String] = []
        var (rest, isCut, emoji) = (Substring(self), false, 0)
        if rest.utf8.count > Shown.mostBytes {
            let end = rest.utf8.index(rest.startIndex, offsetBy: Shown.mostBytes)
            rest = Substring(String(decoding: rest.utf8[..<end], as: UTF8.self))
            while rest.last == "\u{FFFD}" { rest.removeLast() }
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

    /// The line with places to break it: Pango's time grows with the square of a run without any. Ends before too many emoji.
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
                emoji += 1
                guard emoji < Shown.mostEmoji else { return line }
            }
            line.append(character)
        }
        return line
    }

    /// The text as it was before it was made breakable, for copying.
    public var withoutBreakingPlaces: String { filter { $0 != Shown.breakingPlace } }

    /// The beginning of a text, for saying it.
    public var shownStart: String { String(prefix(300)) }

    /// The beginning of a text as one line.
    var shownLine: String {
        let start = String(self.prefix(while: { !$0.isNewline }).prefix(200))
        return PrintedText(field: start.isEmpty ? String(self.prefix(200)) : start).description
    }
}

enum Shown {
    /// A longer text makes a frame slow.
    static let mostBytes = 8_000
    static let mostLines = 200
    /// Sequences of emoji take a tenth of a millisecond each, several times.
    static let mostEmoji = 150
    static let longestRun = 60
    /// The zero width space.
    static let breakingPlace: Character = "\u{200B}"
    static let longestName = 400
}
