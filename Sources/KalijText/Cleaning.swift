/// What a text is put into.
public enum CleaningForm: Sendable {
    /// Lines for people: what continues a line is indented, so that no line of a stranger looks like one of the program.
    case lines
    /// A part of a line that stays on that line.
    case field
    /// XML: references to characters, which mean the same.
    case xml
    /// JSON: escapes, which mean the same.
    case json
}

extension String {
    /// The text without anything that steers a terminal, turns the direction of writing, or forges a line.
    ///
    /// Those are the controls of C0 and C1 and DEL, Unicode's bidirectional controls, and the separators of lines and paragraphs.
    /// For people, a new line is indented, a tab becomes a space, what turns the direction is left out, and in the place of each
    /// other control stands U+FFFD. XML and JSON get references and escapes: nothing is lost there.
    public func cleaned(for form: CleaningForm) -> String {
        guard utf8.contains(where: Unicode.Scalar.mayBeUnsafe) else { return self }
        var clean = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in unicodeScalars {
            defer { previous = scalar }
            if scalar.isSafe {
                clean.append(scalar)
            } else if !(previous == "\r" && scalar == "\n" && form.joinsLineEnds) {
                clean.append(contentsOf: form.replacement(of: scalar).unicodeScalars)
            }
        }
        return String(clean)
    }
}

extension CleaningForm {
    /// What begins a line that continues the one before.
    private static let indentation = "    "

    /// Whether CR LF is one end of a line.
    fileprivate var joinsLineEnds: Bool { self == .lines || self == .field }

    fileprivate func replacement(of scalar: Unicode.Scalar) -> String {
        let number = String(scalar.value, radix: 16)
        switch self {
        case .lines where scalar.endsLine: return "\n" + Self.indentation
        case .field where scalar.endsLine: return " "
        case .lines, .field: return scalar == "\t" ? " " : scalar.isBidirectional ? "" : "\u{FFFD}"
        case .xml: return "&#x\(number);"
        case .json: return "\\u" + String(repeating: "0", count: max(0, 4 - number.count)) + number
        }
    }
}

extension Unicode.Scalar {
    /// Whether a byte of UTF-8 can belong to a scalar that is not safe: as good as all text goes without a second look.
    fileprivate static func mayBeUnsafe(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2
    }

    fileprivate var isSafe: Bool { !isControl && !endsLine && !isBidirectional }

    private var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

    /// As terminals, editors or Unicode see it: LF, VT, FF, CR, NEL, LS, PS.
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
