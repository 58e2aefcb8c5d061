extension TextLink {
    private typealias Scalars = String.UnicodeScalarView

    /// The links of a displayed text.
    /// - Parameter isCut: whether the text is the beginning of a longer one: an address at its end is not whole.
    static func all(in text: String, isCut: Bool = false) -> [TextLink] {
        let scalars = text.unicodeScalars
        var links: [TextLink] = []
        var rest = scalars.startIndex
        while links.count < most, let colon = scalars[rest...].firstIndex(of: ":") {
            rest = scalars.index(after: colon)
            guard let start = schemeStart(before: colon, in: scalars) else { continue }
            rest = scalars[colon...].firstIndex { !isPart($0) } ?? scalars.endIndex
            if isCut, rest == scalars.endIndex { break }
            let end = trimmedEnd(of: start..<rest, in: scalars)
            let first = text.utf8.distance(from: text.startIndex, to: start)
            let range = first..<first + text.utf8.distance(from: start, to: end)
            if let link = TextLink(String(scalars[start..<end]).withoutBreakingPlaces, at: range) { links.append(link) }
        }
        return links
    }

    private static let schemes = ["https", "http", "xmpp", "mailto"]

    /// The start of a known scheme that ends before `colon`; nil for any other word.
    private static func schemeStart(before colon: Scalars.Index, in scalars: Scalars) -> Scalars.Index? {
        var (start, word) = (colon, "")
        while start > scalars.startIndex {
            let before = scalars.index(before: start)
            guard isWord(scalars[before]) else { break }
            guard word.utf8.count < longestScheme else { return nil }
            word = String(scalars[before]) + word
            start = before
        }
        return schemes.contains(word.lowercased()) ? start : nil
    }

    private static let longestScheme = 6

    /// Underscores are no part of a word: with two of them a text is in italics (XEP-0393).
    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "+-.".unicodeScalars.contains(scalar)
    }

    /// Whether an address may contain the character (RFC 3987). A backslash ends it: browsers read it as a slash.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else {
            return scalar.value > 0x20 && scalar.value < 0x7F && !"<>\"\\^`{|}".unicodeScalars.contains(scalar)
        }
        if Character(scalar) == Shown.breakingPlace { return true }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber, .otherNumber, .letterNumber, .dashPunctuation, .otherSymbol:
            return !scalar.properties.isDefaultIgnorableCodePoint
        default: return false
        }
    }

    /// The end of an address without the punctuation of the sentence around it.
    private static func trimmedEnd(of range: Range<Scalars.Index>, in scalars: Scalars) -> Scalars.Index {
        let before = range.lowerBound == scalars.startIndex ? nil : scalars[scalars.index(before: range.lowerBound)]
        var end = range.upperBound
        var open = scalars[range].reduce(into: 0) { count, scalar in
            count += "([".unicodeScalars.contains(scalar) ? 1 : ")]".unicodeScalars.contains(scalar) ? -1 : 0
        }
        while end > range.lowerBound {
            let last = scalars.index(before: end)
            switch scalars[last] {
            case ".", ",", ";", ":", "!", "?", "'", "\u{200B}": break
            case ")" where open < 0, "]" where open < 0: open += 1
            // The signs of XEP-0393 around an address.
            case "*", "_", "~": if scalars[last] != before { return end }
            default: return end
            }
            end = last
        }
        return end
    }
}
