import Foundation
import KalijText
import Testing

@testable import KalijHTTP

@Suite("Signatures for push services")
struct VAPIDTests {
    // RFC 8292, 2.4.
    private let token =
        "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3Njgs"
        + "InN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazN"
        + "jjvW2L9OkSSHzvoD1oA"

    @Test("RFC 8292's example: header and claims to the byte")
    func example() throws {
        let claims = try VAPIDToken.claims(
            audience: "https://push.example.net", expires: 1_453_523_768, contact: "mailto:push@example.com")
        let signed = Base64URL.encode(VAPIDToken.header) + "." + Base64URL.encode(claims)
        #expect(token.hasPrefix(signed + "."))
        #expect(Base64URL.decode(token.dropFirst(signed.utf8.count + 1))?.count == 64)
    }

    @Test("the key is named, and its signature is that of the key")
    func signature() throws {
        let keys = try TestKeys.shared.get()
        let pem = try SigningKey.makeES256()
        let key = try SigningKey(pem: pem)
        let value = try VAPIDToken.authorization(
            audience: "https://push.example.net", expires: 1_453_523_768, contact: nil, key: key)
        let point = Base64URL.encode(try #require(key.publicPoint))
        #expect(value.hasSuffix(",k=" + point))
        let parts = value.dropFirst("vapid t=".count).prefix { $0 != "," }.split(separator: ".")
        #expect(parts.count == 3)
        let name = "vapid-\(UUID().uuidString)"
        try Data(pem).write(to: URL(fileURLWithPath: keys.path(name)))
        try keys.run(["openssl", "pkey", "-in", name, "-pubout", "-out", name + ".pub"])
        let plain = try #require(Base64URL.decode(parts[2]))
        try Data(Self.encoded(plain)).write(to: URL(fileURLWithPath: keys.path(name + ".sig")))
        try Data("\(parts[0]).\(parts[1])".utf8).write(to: URL(fileURLWithPath: keys.path(name + ".text")))
        // OpenSSL's command fails, and throws here, unless the signature is the key's.
        try keys.run([
            "openssl", "dgst", "-sha256", "-verify", name + ".pub", "-signature", name + ".sig", name + ".text",
        ])
    }

    @Test("an RSA key has no point, and signs for nobody")
    func rsa() throws {
        let key = try SigningKey(pem: try TestKeys.shared.get().bytes("rsa.pem"))
        #expect(key.publicPoint == nil)
        #expect(throws: SigningKey.Problem.unsuitable) {
            try VAPIDToken.authorization(audience: "https://a.example", expires: 1, contact: nil, key: key)
        }
    }

    /// Two numbers as ASN.1.
    private static func encoded(_ plain: [UInt8]) -> [UInt8] {
        func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [2, UInt8(digits.count)] + digits
        }
        let numbers = number(plain[..<32]) + number(plain[32...])
        return [0x30, UInt8(numbers.count)] + numbers
    }
}
