import FoundationEssentials

/// Base64 for URLs and file names, without padding (RFC 4648, 5).
public enum Base64URL {
    public static func encode(_ bytes: [UInt8]) -> String {
        let encoded = Data(bytes).base64EncodedString().utf8.filter { $0 != UInt8(ascii: "=") }
        return String(decoding: encoded.map(forURL), as: UTF8.self)
    }

    /// Nil for any other text: with padding, with a character of plain Base64, or with bits that belong to no byte.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let plain = String(decoding: text.utf8.map(fromURL), as: UTF8.self)
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: plain + padding).map(Array.init) else { return nil }
        return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
    }

    private static func forURL(_ byte: UInt8) -> UInt8 {
        byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
    }

    private static func fromURL(_ byte: UInt8) -> UInt8 {
        byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
    }
}
