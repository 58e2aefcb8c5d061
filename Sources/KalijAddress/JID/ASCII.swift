/// The ASCII characters that the profiles leave unchanged: most addresses have no others.
enum ASCII {
    static let at = UInt8(ascii: "@")
    static let slash = UInt8(ascii: "/")
    static let dot = UInt8(ascii: ".")

    /// A set of ASCII characters.
    struct Set: Sendable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        init(_ isMember: (UInt8) -> Bool) {
            for byte in UInt8(0)..<64 where isMember(byte) { low |= 1 << UInt64(byte) }
            // fits: the byte is at least 64, so the difference is not negative
            for byte in UInt8(64)..<128 where isMember(byte) { high |= 1 << UInt64(byte - 64) }
        }

        @inline(__always)
        func contains(_ byte: UInt8) -> Bool {
            if byte < 64 { return low >> UInt64(byte) & 1 == 1 }
            // fits: the byte is at least 64 here, so the difference is not negative
            return byte < 128 && high >> UInt64(byte - 64) & 1 == 1
        }
    }

    /// Nodeprep keeps printable characters except capitals (mapped to small letters) and the characters of RFC 6122,
    /// A.5.
    static let local = Set { byte in
        0x21...0x7E ~= byte && !isCapital(byte) && !#""&'/:<>@"#.utf8.contains(byte)
    }
    /// Resourceprep keeps everything but control characters.
    static let resource = Set { 0x20...0x7E ~= $0 }
    /// Letters, digits, the hyphen (RFC 7622, 3.2: NR-LDH labels), and the underscore, which occurs in real host names.
    static let label = Set { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    static func isCapital(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }

    /// Whether a part has a lawful length and only characters of the set.
    static func isReady(_ bytes: UnsafeBufferPointer<UInt8>, _ set: Set) -> Bool {
        guard 1...JID.longestPart ~= bytes.count else { return false }
        for byte in bytes where !set.contains(byte) { return false }
        return true
    }

    /// Whether a domain has a lawful length, only labels of ASCII characters in small letters, and none empty.
    static func isReadyDomain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard 1...JID.longestPart ~= bytes.count else { return false }
        var last = dot
        for byte in bytes {
            if byte == dot {
                if last == dot { return false }
            } else if !label.contains(byte) {
                return false
            }
            last = byte
        }
        return last != dot
    }
}
