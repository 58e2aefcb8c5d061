import Foundation
import KalijHTTP
import Testing

@Suite("JSON Web Tokens")
struct TokenTests {
    struct Claims: Encodable {
        var iss = "TEAM"
        var iat = 1_700_000_000
    }

    /// Checked by the `openssl` command, without any code of ours.
    private func check(_ token: String, _ key: String, _ rebuild: (Data) -> Data) throws {
        let keys = try TestKeys.shared.get()
        let parts = token.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let signature = rebuild(try #require(decode(parts[2])))
        let name = UUID().uuidString
        try Data((parts[0] + "." + parts[1]).utf8).write(to: URL(fileURLWithPath: keys.path(name + ".txt")))
        try signature.write(to: URL(fileURLWithPath: keys.path(name + ".sig")))
        try keys.run(
            ["openssl", "dgst", "-sha256", "-verify", key + ".pub", "-signature", name + ".sig", name + ".txt"])
    }

    private func decode(_ part: String) -> Data? {
        let plain = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    /// RFC 7518, 3.4, the other way: two numbers as ASN.1.
    private func encoded(_ plain: Data) -> Data {
        func integer(_ bytes: Data) -> [UInt8] {
            var bytes = Array(bytes.drop { $0 == 0 })
            if bytes.first.map({ $0 >= 128 }) ?? true { bytes.insert(0, at: 0) }
            return [2, UInt8(bytes.count)] + bytes
        }
        let content = integer(plain.prefix(32)) + integer(plain.suffix(32))
        return Data([0x30, UInt8(content.count)] + content)
    }

    @Test("ES256: RFC 7518, 3.4; 64 bytes whatever the numbers are")
    func es256() throws {
        let key = try SigningKey(pem: try TestKeys.shared.get().bytes("ec.p8"))
        #expect(key.algorithm == .es256)
        for _ in 0..<20 {
            let token = try JSONWebToken.sign(Claims(), with: key, keyID: "KEYID")
            let parts = token.split(separator: ".").map(String.init)
            #expect(decode(parts[0]) == Data(#"{"alg":"ES256","kid":"KEYID","typ":"JWT"}"#.utf8))
            #expect(decode(parts[1]) == Data(#"{"iat":1700000000,"iss":"TEAM"}"#.utf8))
            #expect(decode(parts[2])?.count == 64)
            try check(token, "ec.p8", encoded)
        }
    }

    @Test("RS256: RFC 7518, 3.3")
    func rs256() throws {
        let key = try SigningKey(pem: try TestKeys.shared.get().bytes("rsa.pem"))
        try check(try JSONWebToken.sign(Claims(), with: key, keyID: nil), "rsa.pem") { $0 }
    }

    @Test("unsuitable keys are refused, and none asks for a password")
    func unsuitable() throws {
        let keys = try TestKeys.shared.get()
        #expect(throws: SigningKey.Problem.unsuitable) { try SigningKey(pem: try keys.bytes("p384.p8")) }
        #expect(throws: SigningKey.Problem.unreadable) { try SigningKey(pem: try keys.bytes("encrypted.p8")) }
        #expect(throws: SigningKey.Problem.unreadable) { try SigningKey(pem: Array("no key".utf8)) }
    }
}
