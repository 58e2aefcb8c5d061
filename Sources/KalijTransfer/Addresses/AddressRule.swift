import Glibc

/// The addresses that a transfer may connect to: those of the public Internet (IANA's special-purpose registries, RFC
/// 6890). Otherwise somebody who sends us a link would reach the devices around us.
///
/// Judged are addresses, after a name has been resolved and before connecting, because a name may lead anywhere.
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

    /// The address in a socket address, 4 or 16 bytes in network order; nil for another family, or if too short.
    static func bytes(of address: UnsafeRawBufferPointer) -> [UInt8]? {
        guard address.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(address.loadUnaligned(as: sa_family_t.self)) {  // fits: 16 bits
        case AF_INET where address.count >= MemoryLayout<sockaddr_in>.size: return Array(address[4..<8])
        case AF_INET6 where address.count >= MemoryLayout<sockaddr_in6>.size: return Array(address[8..<24])
        default: return nil
        }
    }

    /// An address in words: "127.0.0.1", "::1".
    static func text(of bytes: [UInt8]) -> String {
        guard bytes.count == 4 || bytes.count == 16 else { return "of an unknown kind" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        // fits: INET6_ADDRSTRLEN bytes
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
