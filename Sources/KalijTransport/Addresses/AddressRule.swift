import Glibc

/// The addresses to which a host named by a stranger may resolve: those of the public Internet (IANA's special-purpose
/// registries, RFC 6890). Otherwise a link or a push endpoint from a stranger would reach devices of the local network.
///
/// The rule applies to addresses, after a name has been resolved and before connecting, because a name may resolve to any address.
public enum AddressRule {
    /// An address range: the first `bits` bits of `bytes`.
    private struct Range {
        let bytes: [UInt8]
        let bits: Int

        init(_ bits: Int, _ bytes: UInt8...) {
            self.bytes = bytes
            self.bits = bits
        }

        func contains(_ address: some Collection<UInt8>) -> Bool {
            var left = bits
            for (mine, other) in zip(bytes, address) where left > 0 {
                if (mine ^ other) >> (8 - min(left, 8)) != 0 { return false }
                left -= 8
            }
            return left <= 0
        }
    }

    private static let closed4 = [
        Range(8, 0), Range(8, 10), Range(10, 100, 64), Range(8, 127), Range(16, 169, 254), Range(12, 172, 16),
        Range(24, 192, 0, 0), Range(24, 192, 0, 2), Range(24, 192, 88, 99), Range(16, 192, 168), Range(15, 198, 18),
        Range(24, 198, 51, 100), Range(24, 203, 0, 113),
        // Multicast; the reserved addresses with broadcast.
        Range(4, 224), Range(4, 240),
    ]

    // Outside of 2000::/3 are loopback, unspecified, IPv4-compatible, unique local, link-local, site-local and multicast
    // addresses, and the local NAT64 prefix 64:ff9b:1::/48.
    private static let global6 = Range(3, 0x20)
    private static let closed6 = [
        // For protocols: with Teredo, benchmarks and ORCHID. Then documentation, twice.
        Range(23, 0x20, 0x01, 0x00), Range(32, 0x20, 0x01, 0x0d, 0xb8), Range(20, 0x3f, 0xff, 0x00),
    ]
    private static let mapped = Range(96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)
    private static let nat64 = Range(96, 0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0)
    private static let sixToFour = Range(16, 0x20, 0x02)

    /// Whether an address of 4 or 16 bytes in network order is public; false for any other number of bytes.
    ///
    /// An IPv4 address inside an IPv6 address (mapped, NAT64, 6to4) is judged alike.
    public static func isPublic(_ address: some Collection<UInt8>) -> Bool {
        let bytes = Array(address)
        if bytes.count == 4 { return !closed4.contains { $0.contains(bytes) } }
        guard bytes.count == 16 else { return false }
        if mapped.contains(bytes) || nat64.contains(bytes) { return isPublic(bytes[12...]) }
        if sixToFour.contains(bytes) { return isPublic(bytes[2..<6]) }
        return global6.contains(bytes) && !closed6.contains { $0.contains(bytes) }
    }

    private static let loopback4 = Range(8, 127)
    private static let loopback6 = Range(128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    private static let local4 = [Range(8, 10), Range(12, 172, 16), Range(16, 192, 168), Range(10, 100, 64)]
    private static let local6 = Range(7, 0xfc)

    /// Whether a file on a host of the account's own server may be at `address`, though the address is not public: the server
    /// itself was reached at a private address. A name proves nothing, because whoever controls the name chooses the addresses.
    ///
    /// A server in a private network may have its files on another machine of the network, as may a server on this machine; only
    /// a server on this machine may have its files on this machine.
    package static func isBeside(_ address: some Collection<UInt8>, server: some Collection<UInt8>) -> Bool {
        let (address, server) = (plain(address), plain(server))
        if address == server { return !address.isEmpty }
        if isLoopback(server) { return isLoopback(address) || isLocal(address) }
        return isLocal(server) && isLocal(address)
    }

    /// IPv4 in IPv6 as IPv4.
    private static func plain(_ address: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(address)
        return bytes.count == 16 && mapped.contains(bytes) ? Array(bytes[12...]) : bytes
    }

    private static func isLoopback(_ address: [UInt8]) -> Bool {
        address.count == 4 ? loopback4.contains(address) : address.count == 16 && loopback6.contains(address)
    }

    /// An address of a network at home, or of a provider's customers.
    private static func isLocal(_ address: [UInt8]) -> Bool {
        address.count == 4
            ? local4.contains { $0.contains(address) } : address.count == 16 && local6.contains(address)
    }

    /// The bytes of an address in words; empty if there are no such words.
    package static func bytes(of text: String) -> [UInt8] {
        // A link-local address has the name of its network behind a percent sign.
        let words = String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self)
        // fits: the longer of both has 16 bytes
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, words, &bytes) == 1 { return Array(bytes.prefix(4)) }
        return inet_pton(AF_INET6, words, &bytes) == 1 ? bytes : []
    }

    /// The address in a socket address, 4 or 16 bytes in network order; nil for another family, or if too short.
    package static func bytes(of address: UnsafeRawBufferPointer) -> [UInt8]? {
        guard address.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(address.loadUnaligned(as: sa_family_t.self)) {  // fits: 16 bits
        case AF_INET where address.count >= MemoryLayout<sockaddr_in>.size: return Array(address[4..<8])
        case AF_INET6 where address.count >= MemoryLayout<sockaddr_in6>.size: return Array(address[8..<24])
        default: return nil
        }
    }

    /// An address in words: "127.0.0.1", "::1".
    package static func text(of bytes: [UInt8]) -> String {
        guard bytes.count == 4 || bytes.count == 16 else { return "of an unknown kind" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        // fits: INET6_ADDRSTRLEN bytes
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
