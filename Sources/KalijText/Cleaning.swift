/// The kind of output around a text.
public enum CleaningForm: Sendable {
    /// Lines for people: continuation lines are indented, so that a stranger's line never looks like the program's.
    case lines
    /// A part of a line that stays on that line.
    case field
    /// XML: references to characters, with the same meaning.
    case xml
    /// JSON: escapes, with the same meaning.
    case json
}

extension String {
    /// The text without characters that steer a terminal, turn the direction of writing, or forge a line.
    ///
    /// Unsafe are the controls of C0 and C1 and DEL, Unicode's bidirectional controls, the separators of lines and
    /// paragraphs, and what hides text from the reader: U+FEFF, and tag characters outside of a flag. For people, a new line is
    /// indented, a tab becomes a space, controls of direction and hiding characters are left out, and every other control becomes
    /// U+FFFD. XML and JSON get references and escapes, without a loss.
    public func cleaned(for form: CleaningForm) -> String {
        var text = self
        guard text.withUTF8({ $0.contains(where: Unicode.Scalar.mayBeUnsafe) }) else { return self }
        var clean = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        var isFlag = false
        for scalar in unicodeScalars {
            defer { previous = scalar }
            // The flag of a region is a black flag, and tags that name the region (UTS #51 annex C).
            isFlag = scalar == "\u{1F3F4}" || isFlag && scalar.isTag
            if scalar.isSafe || isFlag {
                clean.append(scalar)
            } else if !(previous == "\r" && scalar == "\n" && form.joinsLineEnds) {
                clean.append(contentsOf: form.replacement(of: scalar).unicodeScalars)
            }
        }
        return String(clean)
    }
}

extension CleaningForm {
    /// The beginning of a continuation line.
    private static let indentation = "    "

    /// Whether CR LF is one end of a line.
    fileprivate var joinsLineEnds: Bool { self == .lines || self == .field }

    fileprivate func replacement(of scalar: Unicode.Scalar) -> String {
        switch self {
        case .lines where scalar.endsLine: return "\n" + Self.indentation
        case .field where scalar.endsLine: return " "
        case .lines, .field: return scalar == "\t" ? " " : scalar.isBidirectional || scalar.isHidden ? "" : "\u{FFFD}"
        case .xml: return "&#x\(String(scalar.value, radix: 16));"
        case .json: return UTF16.encode(scalar)?.map(Self.escape).joined() ?? ""
        }
    }
}

extension CleaningForm {
    private static func escape(_ unit: UInt16) -> String {
        let number = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - number.utf8.count)) + number
    }
}

extension Unicode.Scalar {
    /// Whether a byte of UTF-8 can belong to an unsafe scalar: nearly all text passes without a second look.
    fileprivate static func mayBeUnsafe(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, 0xC2, 0xD8, 0xE2, 0xEF, 0xF3: true
        default: false
        }
    }

    fileprivate var isSafe: Bool { !isControl && !endsLine && !isBidirectional && !isHidden }

    /// The byte order mark, and tags.
    fileprivate var isHidden: Bool { value == 0xFEFF || isTag }

    fileprivate var isTag: Bool { (0xE0000...0xE007F).contains(value) }

    private var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

    /// For terminals, editors or Unicode: LF, VT, FF, CR, NEL, LS, PS.
    fileprivate var endsLine: Bool {
        (0x0A...0x0D).contains(value) || value == 0x85 || value == 0x2028 || value == 0x2029
    }

    /// Unicode's Bidi_Control (UAX #9): marks, embeddings, overrides, isolates.
    fileprivate var isBidirectional: Bool {
        switch value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
