import Glibc
import KalijText

/// The URL that a push service gives a device (RFC 8030, 4), as a stranger names it: `https` alone, a host's name and no address.
///
/// The URL is read here alone: a client connects to ``host`` and ``port``, and requests ``path``. Which addresses the name may lead to is judged
/// when the client connects.
public struct PushEndpoint: Sendable, Hashable {
    /// Why a text is no endpoint. Extensible: switch with a default.
    public struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        public let description: String

        private init(_ description: String) { self.description = description }

        public static let tooLong = Fault("the endpoint has more than \(PushEndpoint.limit) bytes")
        public static let notHTTPS = Fault("the endpoint does not begin with https://")
        public static let userName = Fault("the endpoint has a user name")
        public static let port = Fault("the endpoint's port is no number from 1 to 65535")
        public static let host = Fault("the endpoint's host is no name in ASCII with a dot")
        public static let address = Fault("the endpoint's host is an address")
        public static let path = Fault("the endpoint's path has a character that no URL has, or a fragment")
    }

    /// Of the text, in bytes.
    public static let limit = 870
    private static let scheme = "https://"

    /// In lower case.
    public let host: String
    public let port: UInt16
    /// With the query; begins with a slash.
    public let path: String

    /// - Throws: ``Fault``.
    public init(_ text: some StringProtocol) throws(Fault) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.limit else { throw .tooLong }
        let scheme = Array(Self.scheme.utf8)
        guard bytes.prefix(scheme.count).map(Self.lowered) == scheme else { throw .notHTTPS }
        let rest = bytes[scheme.count...]
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userName }
        let name = authority.prefix { $0 != UInt8(ascii: ":") }.map(Self.lowered)
        guard authority.first != UInt8(ascii: "[") else { throw .address }
        try Self.check(host: name)
        port = try Self.port(authority.dropFirst(name.count))
        host = String(decoding: name, as: UTF8.self)
        let tail = rest[authority.endIndex...]
        guard tail.allSatisfy(Self.isOfPath), !Self.hasBrokenEscape(tail) else { throw .path }
        let isAbsolute = tail.first == UInt8(ascii: "/")
        path = (isAbsolute ? "" : "/") + String(decoding: tail, as: UTF8.self)
    }

    /// Scheme, host and port: the audience of a signature (RFC 8292, 2).
    public var origin: String { Self.scheme + host + (port == 443 ? "" : ":\(port)") }

    /// The one spelling of this endpoint.
    public var text: String { origin + path }

    // MARK: Reading

    private static func lowered(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= lowered(byte)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= lowered(byte)
    }

    /// The preferred form of names (RFC 1123, 2.1), with two labels at least: a single label is a name of the local network.
    ///
    /// No top-level domain begins with a digit, and a host whose last label does is an IPv4 address in one of the spellings of `inet_aton`.
    private static func check(host: [UInt8]) throws(Fault) {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if let first = labels.last?.first, isDigit(first) { throw .address }
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                && label.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
        guard isName, labels.count >= 2, host.count <= 253 else { throw .host }
    }

    private static func port(_ text: ArraySlice<UInt8>) throws(Fault) -> UInt16 {
        if text.isEmpty { return 443 }
        let digits = text.dropFirst()
        guard digits.count <= 5, digits.allSatisfy(isDigit), digits.first != UInt8(ascii: "0"),
            // fits: nil for more than 16 bits
            let port = UInt16(String(decoding: digits, as: UTF8.self))
        else { throw .port }
        return port
    }

    /// RFC 3986, 3.3 and 3.4.
    private static func isOfPath(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-._~!$&'()*+,;=:@/?%".utf8.contains(byte)
    }

    private static func hasBrokenEscape(_ path: ArraySlice<UInt8>) -> Bool {
        path.indices.contains { index in
            path[index] == UInt8(ascii: "%")
                && !(path[index...].dropFirst().prefix(2).count == 2
                    && path[index...].dropFirst().prefix(2).allSatisfy(isHexadecimal))
        }
    }
}
