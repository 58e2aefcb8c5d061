import Foundation
import TestSupport
import Testing

@testable import KalijRatchet

/// What a stranger's bytes cost: in proportion to their number, and to the keys that may be skipped. Compared with other costs of
/// the same run, of the thread's own time, the least of several.
@Suite(.serialized) struct BoundsTests {
    @Test(
        "skipping 1,000 keys costs in proportion to 100, and what is too far costs nothing",
        arguments: OMEMOVersion.allCases
    )
    func skipped(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        try romeo.receive(juliet.send("first"))
        var messages: [Device.Sealed] = []
        for _ in 0...1001 { messages.append(try juliet.send("message")) }
        let session = try #require(romeo.session)
        func cost(of number: Int) throws -> Double {
            let message = try RatchetMessage(messages[number].bytes, dialect)
            return ThreadCost.least { _ = try? session.open(message) { _ in nil } }
        }
        let (next, hundred, thousand) = (try cost(of: 0), try cost(of: 100), try cost(of: 1000))
        #expect(thousand < 40 * hundred, "\(next), \(hundred), \(thousand) s")
        #expect(try session.open(RatchetMessage(messages[1000].bytes, dialect)) { _ in nil }.skipped.count == 1000)
        #expect(throws: RatchetError.tooFar) {
            try session.open(RatchetMessage(messages[1001].bytes, dialect)) { _ in nil }
        }
        // Two keys of a chain are derived for 2 µs; refusing must not derive a single key of 1,000.
        let tooFar = try cost(of: 1001)
        #expect(tooFar < hundred, "\(tooFar) s, while 100 keys take \(hundred) s")
    }

    @Test(
        "the largest n and pn, in the present chain and in a new one, cost no more than a turn",
        arguments: OMEMOVersion.allCases)
    func largest(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        try romeo.receive(juliet.send("first"))
        let session = try #require(romeo.session)
        try juliet.receive(romeo.send("turn"))
        let turning = try RatchetMessage(juliet.send("turned").bytes, dialect)
        let turn = ThreadCost.least { _ = try? session.open(turning) { _ in nil } }
        let present = try #require(session.remote)
        for key in [present, turning.header.key] {
            for (n, pn) in [
                (RatchetLimits.largestNumber, 0), (0, RatchetLimits.largestNumber), (1000, RatchetLimits.largestNumber),
            ] {
                let header = RatchetMessage.Header(key: key, number: n, previous: pn)
                let covered = RatchetMessage.authenticated(header, [UInt8](repeating: 1, count: 48), dialect)
                let mac = [UInt8](repeating: 2, count: dialect.macCount)
                let message = try RatchetMessage(RatchetMessage.bytes(covered, mac: mac, dialect), dialect)
                let cost = ThreadCost.least { _ = try? session.open(message) { _ in nil } }
                let skipped = n == 1000 ? try Self.thousand(dialect) : 0
                #expect(cost < 20 * turn + 4 * skipped, "n \(n), pn \(pn): \(cost) s, a turn \(turn) s")
                #expect(throws: RatchetError.self) { try session.open(message) { _ in nil } }
            }
        }
    }

    /// A thousand steps of a chain.
    private static func thousand(_ dialect: OMEMOVersion) throws -> Double {
        let chain = Chain(key: Secret([UInt8](repeating: 3, count: 32)), number: 0)
        return try ThreadCost.least {
            var skipped: [Session.SkippedKey] = []
            _ = try chain.skip(to: 1000, PublicKey([UInt8](repeating: 9, count: 32)), &skipped)
        }
    }

    /// Forms that are long without an end, or cut into many parts.
    private static func garbage(_ size: Int, _ dialect: OMEMOVersion) throws -> [[UInt8]] {
        let version: [UInt8] = dialect == .axolotl ? [0x33] : []
        func repeated(_ part: [UInt8]) -> [UInt8] { version + (0..<(size / part.count)).flatMap { _ in part } }
        let key = try KeyPair.make().key
        let long = RatchetMessage.authenticated(
            .init(key: key, number: 0, previous: 0), [UInt8](repeating: 7, count: size), dialect)
        let message = RatchetMessage.bytes(long, mac: [UInt8](repeating: 2, count: dialect.macCount), dialect)
        let identity = dialect.encode(try Identity.make().publicIdentity)
        return [
            repeated([0xff]), repeated([0x00]), repeated([0x0a]), repeated([0x80]), repeated([0x0d, 1, 2, 3, 4]),
            repeated([0x09, 1, 2, 3, 4, 5, 6, 7, 8]), message,
            AgreementTests.exchange(
                dialect, prekey: 1, signedPrekey: 1, ik: identity, ek: dialect.encode(key), message: message),
        ]
    }

    @Test(
        "64 KiB that are no message cost at most in proportion to 4 KiB, and less than a turn allows",
        arguments: OMEMOVersion.allCases)
    func garbage(_ dialect: OMEMOVersion) throws {
        let (small, large) = (try Self.garbage(4 << 10, dialect), try Self.garbage(64 << 10, dialect))
        let secret = try KeyPair.make().secret
        let agreement = try ThreadCost.least {
            _ = try Curve.agree(secret, PublicKey([9] + [UInt8](repeating: 0, count: 31)))
        }
        let readers: [(String, ([UInt8]) throws -> Void)] = [
            ("exchange", { _ = try KeyExchange($0, dialect) }), ("message", { _ = try RatchetMessage($0, dialect) }),
            ("row", { _ = try Session(stored: $0) }), ("key", { _ = try PublicKey($0) }),
            ("identity", { _ = try dialect.identity($0) }),
            ("payload", { _ = try Payload.open($0, iv: [UInt8](repeating: 0, count: 12), content: secret, dialect) }),
            (
                "bundle",
                { bytes in
                    _ = try Bundle(
                        dialect, identity: bytes, signedPrekey: (1, bytes), signature: bytes, prekey: (1, bytes))
                }
            ),
        ]
        for (name, read) in readers {
            for (index, pair) in zip(small, large).enumerated() {
                let one = ThreadCost.least { try? read(pair.0) }
                let sixteen = ThreadCost.least { try? read(pair.1) }
                #expect(sixteen < 64 * one + agreement, "\(name), form \(index): \(one) s and \(sixteen) s")
            }
        }
    }
}
