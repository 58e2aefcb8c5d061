import Testing

@testable import KalijRatchet

/// The examples of the standards.
@Suite struct PrimitiveTests {
    @Test("HKDF-SHA-256: RFC 5869, appendix A.3, without salt and info")
    func hkdf() throws {
        let key = Secret([UInt8](repeating: 0x0b, count: 22))
        let expected = [UInt8](
            hex: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
        #expect(try Hash.expand(key, info: "", count: 42).exported == expected)
        for count in [1, 31, 32, 33, 42] {
            #expect(try Hash.expand(key, info: "", count: count).exported == expected.map { Array($0.prefix(count)) })
        }
    }

    @Test("HMAC-SHA-256: RFC 4231, test case 2")
    func hmac() throws {
        let code = try Hash.authenticate(
            [Array("what do ya want ".utf8), Array("for nothing?".utf8)], key: Secret(Array("Jefe".utf8)))
        #expect(code.exported == [UInt8](hex: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(Hash.areEqual(code, code.exported))
        #expect(!Hash.areEqual(code, code.exported.dropLast()) && !Hash.areEqual(code, code.exported + [0]))
        for index in 0..<32 {
            var other = code.exported
            other[index] ^= 0x80
            #expect(!Hash.areEqual(code, other))
        }
    }

    @Test("Ed25519: RFC 8032, section 7.1, test 1")
    func ed25519() throws {
        let seed = Secret([UInt8](hex: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60") ?? [])
        let key = try Curve.edwardsKey(of: seed)
        #expect(key == [UInt8](hex: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
        let signature = try Curve.sign([], seed: seed)
        #expect(
            signature
                == [UInt8](
                    hex:
                        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                        + "d25bf5f0595bbe24655141438e7a100b"))
        #expect(try Curve.verify(signature, of: [], by: key))
    }

    @Test("a secret that could not be filled is none, and a part is a copy")
    func secrets() throws {
        #expect(throws: RatchetError.exhausted) { try Secret(count: 8) { _ in throw RatchetError.exhausted } }
        let part = Secret([1, 2, 3, 4]).part(1..<3)
        #expect(part.exported == [2, 3] && part.count == 2)
    }
}
