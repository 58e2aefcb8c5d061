import KalijCore
import KalijStream
import KalijXML

import FoundationEssentials

/// A displayable picture: a PNG, JPEG, GIF or WebP of limited size. Only the signature is verified; nothing is decoded.
struct Avatar {
    let bytes: [UInt8]
    /// The SHA-1, in hexadecimal.
    let hash: String
    /// The media type.
    let type: String

    static let maxSize = SetProfile.largestAvatar
    static let types: Set = ["image/png", "image/jpeg", "image/gif", "image/webp"]

    /// - Throws: `IntentFailure` if the bytes are not such a picture.
    init(_ bytes: [UInt8]) throws {
        guard bytes.count <= Self.maxSize else {
            throw IntentFailure("the picture has \(bytes.count) bytes, at most \(Self.maxSize) are allowed")
        }
        guard let type = Self.type(of: bytes) else {
            throw IntentFailure("the picture is neither PNG nor JPEG, GIF or WebP")
        }
        (self.bytes, self.type) = (bytes, type)
        hash = try HashFunction.sha1.hash(bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// - Throws: `IntentFailure` if the text is not a picture in base64 (RFC 4648 section 4).
    init(base64 text: String) throws {
        // Twice the size allows for any line breaks.
        guard text.utf8.count <= Self.maxSize * 2 else { throw IntentFailure("the picture is too large") }
        guard let data = Data(base64Encoded: Data(text.utf8.filter { !$0.isSpace })) else {
            throw IntentFailure("the picture is not in base64")
        }
        try self.init([UInt8](data))
    }

    var base64: String { Self.base64(bytes) }

    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    private static func type(of bytes: [UInt8]) -> String? {
        func has(_ signature: [UInt8], at place: Int = 0) -> Bool { bytes.dropFirst(place).starts(with: signature) }
        if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), has(Array("IHDR".utf8), at: 12) {
            return "image/png"
        }
        if has([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if has(Array("GIF87a".utf8)) || has(Array("GIF89a".utf8)) { return "image/gif" }
        if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) { return "image/webp" }
        return nil
    }

    /// Whether `text` is a SHA-1 in the usual form: forty lower-case hexadecimal digits.
    static func isHash(_ text: String) -> Bool {
        text.utf8.count == 40
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}

/// The nodes of a picture (XEP-0084).
enum AvatarNode {
    static let data = "urn:xmpp:avatar:data"
    static let metadata = "urn:xmpp:avatar:metadata"

    /// The hash of the first displayable picture in the data node that `element`, a `<metadata/>`, offers; nil for none.
    static func hash(in element: Element) -> String? {
        guard element.isNamed("metadata", metadata) else { return nil }
        let info = element.children("info").first { info in
            guard info["url"] == nil, let size = info["bytes"].flatMap({ Int($0) }), let id = info["id"] else {
                return false
            }
            return (1...Avatar.maxSize).contains(size) && Avatar.isHash(id)
                && info["type"].map(Avatar.types.contains) ?? false
        }
        return info?["id"]
    }
}
