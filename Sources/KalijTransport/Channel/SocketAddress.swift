import Glibc
import KalijText

/// An address and a port, in the system's form.
struct SocketAddress: Equatable {
    private var storage = sockaddr_storage()
    private var length: socklen_t = 0

    /// Takes an IPv4 or IPv6 address, the latter with or without brackets; anything else gives nil.
    init?(literal text: String, port: UInt16) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(four, port: port)
        } else if inet_pton(AF_INET6, Self.withoutBrackets(text), &six) == 1 {
            self.init(six, scope: 0, port: port)
        } else {
            return nil
        }
    }

    /// Takes over an address from the resolver.
    init?(taking address: UnsafePointer<sockaddr>) {
        // The family determines the structure.
        switch Int32(address.pointee.sa_family) {  // fits: 16 bits
        case AF_INET:
            let found = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee }
            self.init(found.sin_addr, port: UInt16(bigEndian: found.sin_port))
        case AF_INET6:
            let found = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee }
            self.init(found.sin6_addr, scope: found.sin6_scope_id, port: UInt16(bigEndian: found.sin6_port))
        default: return nil
        }
    }

    private init(_ address: in_addr, port: UInt16) {
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = port.bigEndian
        four.sin_addr = address
        fill(with: four)
    }

    private init(_ address: in6_addr, scope: UInt32, port: UInt16) {
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        six.sin6_addr = address
        six.sin6_scope_id = scope
        fill(with: six)
    }

    // sockaddr_storage has room for any of these structures.
    private mutating func fill<Address>(with address: Address) {
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: Address.self) }
        length = socklen_t(MemoryLayout<Address>.size)
    }

    var family: Int32 { Int32(storage.ss_family) }  // fits: 16 bits

    var port: UInt16 {
        // The port is at the same offset for both families.
        withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// The address without the port: "127.0.0.1", "::1".
    var text: String {
        withUnsafeBytes(of: storage) { bytes in
            family == AF_INET
                ? Self.text(of: Array(bytes[4..<8])) ?? "" : Self.text(of: Array(bytes[8..<24])) ?? ""
        }
    }

    func isAllowed(_ addresses: AllowedAddresses) -> Bool {
        addresses == .all
            || withUnsafeBytes(of: storage) { AddressRule.bytes(of: $0).map(AddressRule.isPublic) ?? false }
    }

    static func == (one: Self, other: Self) -> Bool {
        withUnsafeBytes(of: one.storage) { one in withUnsafeBytes(of: other.storage) { one.elementsEqual($0) } }
    }

    /// The result of `connect`.
    func connect(_ descriptor: Int32) -> Int32 {
        withUnsafeBytes(of: storage) { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            // Every socket address begins as a sockaddr.
            return Glibc.connect(descriptor, start.assumingMemoryBound(to: sockaddr.self), length)
        }
    }
}

extension SocketAddress {
    /// The text of 4 or 16 bytes in network order; nil for any other number.
    static func text(of bytes: [UInt8]) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        // fits: INET6_ADDRSTRLEN bytes
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func isLiteral(_ text: String) -> Bool { SocketAddress(literal: text, port: 0) != nil }

    static func withoutBrackets(_ text: String) -> String {
        text.begins(with: "[") && text.ends(with: "]") ? String(text.dropFirst().dropLast()) : text
    }
}
