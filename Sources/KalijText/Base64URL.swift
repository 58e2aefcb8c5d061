import FoundationEssentials

/// Base64 for URLs and file names, without padding (RFC 4648, 5).
public enum Base64URL {
    public static func encode(_ bytes: [UInt8]) -> String { String(decoding: encoded(bytes), as: UTF8.self) }

    /// Nil for any other text: with padding, with a character of plain Base64, or with bits that belong to no byte.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let given = Array(text.utf8)
        var plain = given
        for index in plain.indices {
            switch plain[index] {
            case UInt8(ascii: "-"): plain[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): plain[index] = UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: break
            }
        }
        while plain.count % 4 != 0 { plain.append(UInt8(ascii: "=")) }
        guard let bytes = Data(base64Encoded: Data(plain)).map(Array.init) else { return nil }
        return encoded(bytes) == given ? bytes : nil
    }

    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var encoded = Array(Data(bytes).base64EncodedData())
        while encoded.last == UInt8(ascii: "=") { encoded.removeLast() }
        for index in encoded.indices {
            switch encoded[index] {
            case UInt8(ascii: "+"): encoded[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): encoded[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return encoded
    }
}
