import COpenSSL

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The conversions of the query language: nil is "no result", never 0 or false.
enum Conversions {
    /// `xs:boolean`.
    static func bool(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        switch String(decoding: bytes, as: UTF8.self) {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Decimal digits with an optional sign; an unsigned type takes no minus. White space around the number is ignored.
    static func integer<Number: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer) -> Number? {
        let text = trimmed(bytes)
        if !Number.isSigned, text.first == UInt8(ascii: "-") { return nil }
        return Number(String(decoding: text, as: UTF8.self), radix: 10)
    }

    /// Decimal and exponent forms, finite.
    static func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
        let text = trimmed(bytes)
        // Swift would also read "0x1p3", "inf" and "nan".
        let isPlain = text.allSatisfy { byte in
            isDigit(byte) || "+-.eE".utf8.contains(byte)
        }
        guard isPlain, let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return nil }
        return number
    }

    /// RFC 4648 with padding; white space is ignored.
    static func base64(_ bytes: UnsafeRawBufferPointer) -> Data? {
        let text = Data(bytes.contains(where: isSpace) ? bytes.filter { !isSpace($0) } : Array(bytes))
        // Foundation forgives missing and superfluous padding.
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard text.count % 4 == 0, padding <= 2 else { return nil }
        return Data(base64Encoded: text)
    }

    /// The form of 36 characters.
    static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID? {
        bytes.count == 36 ? UUID(uuidString: String(decoding: bytes, as: UTF8.self)) : nil
    }

    /// A UUID unchanged, anything else hashed: the first 16 bytes of its SHA-256 as a version 4 UUID (RFC 9562).
    static func castUUID(_ bytes: UnsafeRawBufferPointer) -> UUID? {
        if let uuid = uuid(bytes) { return uuid }
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        guard EVP_Digest(bytes.baseAddress, bytes.count, &digest, &length, EVP_sha256(), nil) == 1 else { return nil }
        digest[6] = digest[6] & 0x0F | 0x40
        digest[8] = digest[8] & 0x3F | 0x80
        return digest.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    static func trimmed(_ bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var rest = bytes[...]
        while let first = rest.first, isSpace(first) { rest = rest.dropFirst() }
        while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
        return rest
    }
}
