import KalijStore
import KalijStream
import KalijText

/// Why something did not succeed: a code for programs and translations, its values, and the words in English.
///
/// The words may change with a version; codes and the order of their values stay.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// What has happened.
    public let code: Code
    /// The values of the code, in the order of ``Code``'s documentation: numbers in digits, addresses, and texts of other entities.
    public let values: [String]

    private init(_ code: Code, _ values: [String]) { (self.code, self.values) = (code, values) }

    package init(_ code: Code, _ values: String...) { self.init(code, values) }

    /// A reason without a code of its own.
    package init(other words: String) { self.init(.other, words) }

    /// The code for programs, in JSON: for an error of a server's, or of somebody else's, its condition in RFC 6120; nil if there is none.
    public var name: String? {
        switch code {
        case .other: nil
        case .stanzaError, .streamError: values.first ?? code.rawValue
        default: code.rawValue
        }
    }

    /// The words in English.
    public var description: String {
        var words = ""
        for (number, part) in code.english.parts(at: "{").enumerated() {
            guard number > 0, let end = part.firstIndex(of: "}"), let place = Int(part[..<end]) else {
                words += part
                continue
            }
            words += (values.indices.contains(place) ? values[place] : "") + part[part.index(after: end)...]
        }
        return words
    }
}

// MARK: Of errors

extension Reason {
    package init(_ error: StoreError) { self.init(error.code == .full ? .diskFull : .notStored, error.description) }

    package init(_ error: StanzaError) { self.init(.stanzaError, error.condition.rawValue, "\(error)") }

    /// The reason of an error that keeps a stanza from being queued.
    package init(_ error: any Error) {
        switch error {
        case let error as StanzaTooLong: self.init(.tooLong, "\(error.bytes)", "\(error.limit)")
        case let error as StanzaError: self.init(error)
        default: self.init(other: "\(error)")
        }
    }
}

// MARK: As text

extension Reason {
    /// The unit separator of ASCII: XML has no such character.
    private static let separator: Unicode.Scalar = "\u{1F}"

    /// The code and the values in one text; the words alone for a reason without a code.
    package var stored: String {
        guard code != .other else { return Self.withoutSeparators(description) }
        return ([code.rawValue] + values.map(Self.withoutSeparators) + [""]).joined(separator: String(Self.separator))
    }

    private static func withoutSeparators(_ text: String) -> String {
        text.parts(at: separator).joined(separator: " ")
    }

    /// - Parameter stored: ``stored``, or words without a code, as former versions have stored them.
    package init(stored: String) {
        let parts = stored.parts(at: Self.separator)
        guard parts.count > 1, let code = Code(rawValue: parts[0]), code != .other else {
            self.init(other: Self.withoutSeparators(stored))
            return
        }
        self.init(code, Array(parts[1..<(parts.count - 1)]))
    }
}

extension Reason: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(stored: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stored)
    }
}
