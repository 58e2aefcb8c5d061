import KalijPush
import Testing

@Suite("Keyed hashes")
struct KeyTests {
    @Test("HMAC-SHA256(secret, kind, module, token), 16 bytes: the same as from the openssl command")
    func value() throws {
        let hasher = try KeyHasher(secret: Array("0123456789abcdef0123456789abcdef".utf8))
        // printf '\001m\000token' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
        let hex = hasher.key(token: "token", module: "m").bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(hex.joined() == "99d1cf9622c3a5875dfcb1a203e9073b")
        #expect(hasher.key(token: "token", module: "m") == hasher.key(token: "token", module: "m"))
    }

    @Test("kind, module and secret all matter")
    func different() throws {
        let one = try KeyHasher(secret: [UInt8](repeating: 1, count: 32))
        let two = try KeyHasher(secret: [UInt8](repeating: 2, count: 32))
        let keys = [
            one.key(token: "a", module: "b"), two.key(token: "a", module: "b"), one.key(token: "a", module: "c"),
            one.key(token: "ba", module: ""), one.key(domain: "a"), one.key(token: "a", module: ""),
        ]
        #expect(Set(keys).count == keys.count)
        #expect(HashedKey(keys[0].bytes) == keys[0])
        #expect(throws: KeyHasher.WeakSecret.self) { try KeyHasher(secret: [1]) }
    }
}
