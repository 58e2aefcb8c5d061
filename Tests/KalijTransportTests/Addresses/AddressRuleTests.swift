import Foundation
import Testing

@testable import KalijTransport

@Suite("Addresses")
struct AddressRuleTests {
    private func bytes(_ text: String) -> [UInt8] {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        return inet_pton(AF_INET6, text, &six) == 1 ? withUnsafeBytes(of: six) { Array($0) } : []
    }

    @Test(
        "What is not of the public Internet is refused, at both ends of each range",
        arguments: [
            "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "169.254.0.1", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.8",
            "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255",
            "198.51.100.7", "203.0.113.255", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "::7f00:1", "::808:808", "fe80::1", "febf::1", "fc00::1", "fdff::1", "fec0::1", "ff02::1",
            "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8",
            "2002:7f00:1::1", "2002:0a00:0001::", "2002:c0a8:0101::1", "2001:0:808:808::1", "2001:db8::1", "2001:2::1",
            "3fff::1", "100::1", "1::1", "4000::1",
        ])
    func refused(_ text: String) {
        #expect([4, 16].contains(bytes(text).count))
        #expect(!AddressRule.isPublic(bytes(text)))
    }

    @Test(
        "Public addresses are taken, right beside the refused ranges too",
        arguments: [
            "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255",
            "203.0.114.0", "223.255.255.255", "8.8.8.8", "2001:200::1", "2a00:1450:4001::1", "2000::1",
            "3ffe:ffff::1", "2001:db7::1", "2001:db9::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
        ])
    func taken(_ text: String) {
        #expect(AddressRule.isPublic(bytes(text)))
    }

    @Test("Anything but 4 or 16 bytes is refused")
    func lengths() {
        for count in 0..<20 where count != 4 && count != 16 {
            #expect(!AddressRule.isPublic([UInt8](repeating: 8, count: count)))
        }
    }

    @Test(
        "A host of the own server is where the server is, or beside it, and nowhere else",
        arguments: [
            // The server's address, one that the files may have, and those that they may not have.
            (
                "198.51.100.7", ["198.51.100.7"],
                ["127.0.0.1", "10.0.0.1", "192.168.1.1", "::1", "fd00::1", "169.254.169.254"]
            ),
            (
                "8.8.8.8", [],
                ["127.0.0.1", "192.168.1.1", "::ffff:127.0.0.1", "::1", "fd00::1", "169.254.169.254", "0.0.0.0"]
            ),
            (
                "192.168.1.5", ["192.168.1.5", "192.168.1.6", "10.0.0.1", "fd00::1", "::ffff:192.168.1.5"],
                ["127.0.0.1", "::1", "169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "::ffff:127.0.0.1"]
            ),
            ("fd00::5", ["fd00::6", "172.16.0.1"], ["::1", "127.0.0.1", "ff02::1"]),
            (
                "127.0.0.1", ["127.0.1.1", "::1", "192.168.1.5"],
                ["169.254.169.254", "0.0.0.0", "240.0.0.1", "64:ff9b::7f00:1"]
            ),
            ("169.254.1.1", ["169.254.1.1"], ["169.254.169.254", "127.0.0.1", "10.0.0.1"]),
            ("fe80::1%eth0", ["fe80::1"], ["fe80::2", "::1"]),
            ("", [], ["127.0.0.1", "10.0.0.1", "::1"]), ("nonsense", [], ["127.0.0.1", "0.0.0.0", "::"]),
        ])
    func beside(_ server: String, _ taken: [String], _ refused: [String]) {
        let server = AddressRule.bytes(of: server)
        for address in taken { #expect(AddressRule.isBeside(bytes(address), server: server), "\(address)") }
        for address in refused { #expect(!AddressRule.isBeside(bytes(address), server: server), "\(address)") }
        for count in [0, 3, 5, 15] {
            #expect(!AddressRule.isBeside([UInt8](repeating: 1, count: count), server: server))
        }
    }

    @Test("The address is found in a socket address, and nothing in a short or strange one")
    func socketAddresses() {
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_addr = in6addr_loopback
        withUnsafeBytes(of: four) { bytes in
            #expect(AddressRule.bytes(of: bytes) == [127, 0, 0, 1])
            #expect(AddressRule.bytes(of: UnsafeRawBufferPointer(rebasing: bytes[..<8])) == nil)
            #expect(AddressRule.bytes(of: UnsafeRawBufferPointer(rebasing: bytes[..<1])) == nil)
        }
        withUnsafeBytes(of: six) { bytes in
            #expect(AddressRule.bytes(of: bytes).map(AddressRule.text) == "::1")
            #expect(AddressRule.bytes(of: UnsafeRawBufferPointer(rebasing: bytes[..<16])) == nil)
        }
        var local = sockaddr_un()
        local.sun_family = sa_family_t(AF_UNIX)
        withUnsafeBytes(of: local) { #expect(AddressRule.bytes(of: $0) == nil) }
    }
}
