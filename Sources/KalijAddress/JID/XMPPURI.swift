import KalijText

/// An address of XMPP as a link: `xmpp:romeo@example.net?roster;preauth=TOKEN` (RFC 5122, XEP-0147).
public struct XMPPURI: Sendable, Hashable {
    /// The named address.
    public let jid: JID
    /// The action, such as `register`, `roster`, `join`; nil if there is none.
    public let action: String?
    /// The parameters of the action.
    public let parameters: [String: String]

    /// The longest link that is read, in bytes.
    public static let longest = 10_000

    /// Reads a link; nil if the text is none, or names no valid address. An authority (`xmpp://...`) is ignored.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.longest, text.lowercased().begins(with: "xmpp:") else { return nil }
        var rest = text.parts(at: "#")[0].parts(at: ":", most: 2)[1]
        if rest.begins(with: "//") {
            let pieces = rest.parts(at: "/", most: 4)
            guard pieces.count == 4 else { return nil }
            rest = pieces[3]
        }
        let parts = rest.parts(at: "?", most: 2)
        guard let path = Self.decoded(parts[0]), let jid = try? JID(path) else { return nil }
        self.jid = jid
        var pieces = parts.count > 1 ? parts[1].parts(at: ";") : []
        let first = pieces.isEmpty ? nil : Self.decoded(pieces.removeFirst())
        action = first?.isEmpty == false ? first : nil
        var parameters: [String: String] = [:]  // characters: equivalent names are one; the first counts.
        for piece in pieces {
            let pair = piece.parts(at: "=", most: 2)
            guard let name = pair.first.flatMap(Self.decoded), let value = Self.decoded(pair.count > 1 ? pair[1] : "")
            else {
                return nil
            }
            // The first counts.
            if parameters[name] == nil { parameters[name] = value }
        }
        self.parameters = parameters
    }

    /// The link of an address without an action (RFC 5122 section 2.2).
    public static func link(to jid: JID) -> String {
        let local = jid.local.map { encoded($0) + "@" } ?? ""
        return "xmpp:" + local + encoded(jid.domain) + (jid.resource.map { "/" + encoded($0) } ?? "")
    }

    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$()*+,;=:[]".utf8)

    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            plain.contains(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]  // fits: four bits
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces `%` with two hexadecimal digits by a byte; nil if the result is no UTF-8.
    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)  // characters: bytes.
            guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)  // fits: two digits
            else { return nil }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
