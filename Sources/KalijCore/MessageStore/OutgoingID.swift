import FoundationEssentials

/// The id of a stanza or an intent of the user: a new id, or a validated id from outside.
package struct OutgoingID {
    package let text: String

    /// The maximum length of an id from outside, in bytes.
    private static let maxLength = 256

    /// - Parameter given: nil for a new id.
    /// - Throws: `AcceptError.badID`
    package init(_ given: String?) throws(AcceptError) {
        guard let given else {
            text = Self.random()
            return
        }
        text = given
        guard !text.isEmpty, text.utf8.count <= Self.maxLength, text.unicodeScalars.allSatisfy(Self.mayBeInID) else {
            throw AcceptError.badID
        }
    }

    /// A new UUID in small letters.
    private static func random() -> String {
        let digits: StaticString = "0123456789abcdef"
        return withUnsafeBytes(of: UUID().uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var place = 0
                for (index, byte) in bytes.enumerated() {
                    if [4, 6, 8, 10].contains(index) {
                        text[place] = UInt8(ascii: "-")
                        place += 1
                    }
                    text[place] = digits.utf8Start[Int(byte >> 4)]
                    text[place + 1] = digits.utf8Start[Int(byte & 15)]
                    place += 2
                }
                return place
            }
        }
    }

    /// Whether an id may contain the character. Servers and clients could change white space and control characters in transit.
    private static func mayBeInID(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isXML && scalar.value > 0x20 && !(0x7F...0xA0).contains(scalar.value)
    }
}

extension Unicode.Scalar {
    /// Whether XML 1.0 (section 2.2) allows the character; any other character would terminate the stream.
    package var isXML: Bool {
        switch value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}
