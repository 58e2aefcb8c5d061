import KalijHandlers
import KalijText

import FoundationEssentials

/// The address of a file: an HTTPS URL, and the key if the file there is encrypted.
package struct FileAddress: Equatable {
    /// An HTTPS URL without a fragment; empty if there is none (``unknown``).
    package let url: String
    /// The nonce, of 12 or 16 bytes, followed by the key of 32 bytes (AES-256-GCM); nil if the file is not encrypted.
    package let key: [UInt8]?

    /// The scheme of encrypted files: the fragment is the nonce and the key, in hexadecimal. All clients with OMEMO 0.3 support it.
    private static let encrypted = "aesgcm://"
    private static let web = "https://"
    /// The maximum length of a URL in bytes.
    private static let maxLength = 4096

    /// The address of a file that is shared without an HTTPS URL: nothing can be fetched.
    package static let unknown = FileAddress(url: "", key: nil)
    package var isKnown: Bool { !url.isEmpty }

    package init(url: String, key: [UInt8]?) { (self.url, self.key) = (url, key) }

    /// Parses an `aesgcm` URL; nil if `text` is anything else.
    package init?(encrypted text: String) {
        guard text.utf8.count <= Self.maxLength, let rest = text.rest(after: Self.encrypted),
            !rest.unicodeScalars.contains(where: \.properties.isWhitespace),
            let hash = rest.utf8.lastIndex(of: UInt8(ascii: "#")),
            let key = Self.bytes(String(rest.unicodeScalars[hash...].dropFirst())), [44, 48].contains(key.count)
        else { return nil }
        let url = Self.web + String(rest[..<hash])
        guard Self.isWeb(url) else { return nil }
        self.init(url: url, key: key)
    }

    /// Whether `text` is an HTTPS URL with a host, and without a user.
    package static func isWeb(_ text: String) -> Bool {
        guard text.utf8.count <= maxLength,
            !text.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }),
            let url = URL(string: text), url.scheme?.lowercased() == "https", let host = url.host, !host.isEmpty,
            url.user == nil
        else { return false }
        return true
    }

    /// Whether `text` consists of a file address alone.
    package static func isAddress(_ text: String) -> Bool { FileAddress(encrypted: text) != nil || isWeb(text) }

    /// The host of a URL; nil if there is none.
    package static func host(of url: String) -> String? { URL(string: url)?.host?.lowercased() }

    /// The last component of the path, decoded: a name for human readers.
    package var lastPart: String { URL(string: url)?.lastPathComponent ?? "" }

    /// The text of a message with an encrypted file.
    package var encryptedText: String? {
        key.flatMap { key in url.rest(after: Self.web).map { Self.encrypted + $0 + "#" + Self.text(key) } }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
        guard digits.count == text.count, digits.count.isMultiple(of: 2), digits.count <= 128 else { return nil }
        // fits: two digits
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
