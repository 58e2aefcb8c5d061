import Foundation
import KalijRatchet

extension HostileDevices {
    /// The smallest keys: 0, 1, p − 1, p, p + 1 (RFC 7748), of order 8, and a key that is not in its only form.
    static let badKeys: [[UInt8]] = {
        let p: [UInt8] = [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
        func with(_ first: UInt8, _ key: [UInt8]) -> [UInt8] { [first] + key.dropFirst() }
        let zero = [UInt8](repeating: 0, count: 32)
        let eight: [UInt8] = [
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
            0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
        ]
        return [
            zero, with(1, zero), with(0xec, p), p, with(0xee, p), eight, [UInt8](repeating: 0xff, count: 32),
            zero.dropLast(),
        ]
    }()

    private static func varint(_ number: UInt64) -> [UInt8] {
        var (rest, bytes): (UInt64, [UInt8]) = (number, [])
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(truncatingIfNeeded: rest)]
    }

    private static func field(_ number: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(UInt64(bytes.count)) + bytes
    }

    private static func field(_ number: UInt64, _ value: UInt64) -> [UInt8] { varint(number << 3) + varint(value) }

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(random.number(0...255)) } }

    /// A message of a ratchet that nobody has agreed on.
    private func ratchet(_ key: [UInt8], number: UInt64, previous: UInt64) -> [UInt8] {
        [0x33] + Self.field(1, [5] + key) + Self.field(2, number) + Self.field(3, previous)
            + Self.field(4, bytes(48)) + bytes(8)
    }

    /// A key exchange with these keys.
    private func exchange(_ prekey: UInt64?, identity: [UInt8], ephemeral: [UInt8], _ message: [UInt8]) -> [UInt8] {
        [0x33] + (prekey.map { Self.field(1, $0) } ?? []) + Self.field(2, [5] + ephemeral)
            + Self.field(3, [5] + identity) + Self.field(4, message) + Self.field(6, 1)
    }

    private func goodKey() throws -> [UInt8] { try Identity.make().publicIdentity.key.bytes }

    /// Messages that are wrong each in a way of its own.
    func wrong(_ bundle: KalijRatchet.Bundle) throws -> [String] {
        let far = UInt64(Int32.max)
        let key = try goodKey()
        let fine = ratchet(key, number: 0, previous: 0)
        var all: [[UInt8]] = []
        for bad in Self.badKeys {
            all.append(exchange(1, identity: bad, ephemeral: key, fine))
            all.append(exchange(1, identity: key, ephemeral: bad, fine))
            all.append(exchange(1, identity: key, ephemeral: key, ratchet(bad, number: 0, previous: 0)))
        }
        for (number, previous) in [(far, 0), (0, far), (far, far), (1000, 1000), (UInt64.max, 0), (1 << 31, 1 << 31)] {
            all.append(exchange(1, identity: key, ephemeral: key, ratchet(key, number: number, previous: previous)))
        }
        all.append(exchange(nil, identity: key, ephemeral: key, fine))
        all.append(exchange(far, identity: key, ephemeral: key, fine))
        all.append(bundle.identity.key.bytes)
        // The account's own identity.
        all.append(exchange(1, identity: bundle.identity.key.bytes, ephemeral: key, fine))
        var stanzas = all.map { message("\(random.number(50_000...60_000))", [Key(receiver: receiver, bytes: $0)]) }
        for device in ["0", "-1", "4294967296", "2147483648", "x", "", "１"] { stanzas.append(message(device, [])) }
        for namespace in ["urn:xmpp:omemo:2", "eu.siacs.conversations.axolotl"] {
            stanzas.append(stanza("<encrypted xmlns='\(namespace)'/>"))
            stanzas.append(stanza("<encrypted xmlns='\(namespace)'><header sid='7'/><payload>=</payload></encrypted>"))
            stanzas.append(stanza("<encrypted xmlns='\(namespace)'><payload>AAAA</payload></encrypted>"))
        }
        // Headers without end, for this device and for others.
        for count in [2000] {
            let keys = (0..<count).map { _ in Key(receiver: receiver, bytes: bytes(30), isExchange: false) }
            stanzas.append(message("70000", keys))
            let others = (0..<count).map { Key(receiver: $0 + 1, bytes: bytes(30), isExchange: false) }
            stanzas.append(message("70001", others))
        }
        stanzas.append(message("70002", [Key(receiver: receiver, bytes: bytes(100_000))]))
        stanzas.append(message("70003", [], payload: Data(bytes(90_000)).base64EncodedString()))
        return stanzas
    }

    /// Damaged copies of a message that would be read.
    func damaged(_ count: Int, _ bundle: KalijRatchet.Bundle) throws -> [String] {
        var session = try Session.begin(Identity.make(), bundle, .axolotl)
        let payload = try Payload(Array("damaged".utf8), .axolotl)
        let whole = try session.seal(payload.content).bytes
        return (0..<count).map { number in
            var copy = whole
            switch random.number(0...4) {
            case 0:
                for _ in 0...random.number(0...3) {
                    copy[random.number(0...copy.count - 1)] ^= 1 << UInt8(random.number(0...7))
                }
            case 1: copy = Array(copy.prefix(random.number(0...copy.count - 1)))
            case 2: copy.insert(contentsOf: bytes(random.number(1...40)), at: random.number(0...copy.count))
            case 3: copy.replaceSubrange(0..<random.number(1...copy.count), with: bytes(random.number(0...60)))
            default: copy = bytes(random.number(0...200))
            }
            // Each seems to come from another device: that is a new row, and a new session to be mended.
            return message(
                "\(100_000 + number)", [Key(receiver: receiver, bytes: copy, isExchange: random.number(0...3) > 0)])
        }
    }
}
