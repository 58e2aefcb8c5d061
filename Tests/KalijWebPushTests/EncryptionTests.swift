import Foundation
import KalijText
import Testing

@testable import KalijWebPush

@Suite("Bodies of pushes")
struct EncryptionTests {
    // RFC 8291, 5 and appendix A.
    private let plain = "When I grow up, I want to be a watermelon"
    private let sender = (
        private: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
        public: "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
    )
    private let device = (
        private: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
        public: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    )
    private let salt = "DGv6ra1nlYgDCS1FRnbzlw"
    private let secret = "BTBZMqHH6r4Tts7J_aSIgg"
    private let body =
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
        + "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

    private func subscription() throws -> PushSubscription {
        try PushSubscription(
            endpoint: try PushEndpoint("https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV"),
            publicKey: try bytes(device.public), secret: try bytes(secret))
    }

    private func key(_ pair: (private: String, public: String)) throws -> P256Key {
        try P256Key(privateKey: try bytes(pair.private), publicKey: try bytes(pair.public))
    }

    @Test("RFC 8291's example, to the byte, in both directions")
    func example() throws {
        let made = try PushMessage.encrypt(
            Array(plain.utf8), padding: 0, for: try subscription(), key: try key(sender), salt: try bytes(salt))
        #expect(Base64URL.encode(made) == body)
        let opened = try PushMessage.decrypt(try bytes(body), key: try key(device), secret: try bytes(secret))
        #expect(String(decoding: opened, as: UTF8.self) == plain)
    }

    @Test("every body has the same size, a new key and a new salt")
    func size() throws {
        let key = try P256Key()
        let device = try PushSubscription(
            endpoint: try PushEndpoint("https://push.example.net/1"), publicKey: key.publicKey,
            secret: try bytes(secret))
        var heads: Set<[UInt8]> = []
        for count in 0...153 {
            let body = try PushMessage.encrypt([UInt8](repeating: 0, count: count), for: device, size: 256)
            #expect(body.count == 256)
            heads.insert(Array(body[..<16]))
            heads.insert(Array(body[21..<86]))
            let opened = try PushMessage.decrypt(body, key: key, secret: device.secret)
            #expect(opened == [UInt8](repeating: 0, count: count))
        }
        #expect(heads.count == 308)
        #expect(throws: PushMessage.Problem.self) {
            try PushMessage.encrypt([UInt8](repeating: 0, count: 154), for: device, size: 256)
        }
    }

    @Test("a changed bit anywhere, a cut or a longer body, another key or secret: refused")
    func changed() throws {
        let key = try P256Key()
        let secret = try bytes(secret)
        let device = try PushSubscription(
            endpoint: try PushEndpoint("https://push.example.net/1"), publicKey: key.publicKey, secret: secret)
        let body = try PushMessage.encrypt(Array("look".utf8), for: device, size: 128)
        for index in body.indices where !(16...19).contains(index) {
            var changed = body
            changed[index] ^= 1
            #expect(throws: PushMessage.Problem.self, "byte \(index)") {
                try PushMessage.decrypt(changed, key: key, secret: secret)
            }
        }
        for count in [0, 1, 20, 21, 86, 102, 127] {
            #expect(throws: PushMessage.Problem.self) {
                try PushMessage.decrypt(Array(body.prefix(count)), key: key, secret: secret)
            }
        }
        #expect(throws: PushMessage.Problem.self) { try PushMessage.decrypt(body + [0], key: key, secret: secret) }
        let other = try P256Key()
        #expect(throws: PushMessage.Problem.self) { try PushMessage.decrypt(body, key: other, secret: secret) }
        let wrong = [UInt8](repeating: 1, count: 16)
        #expect(throws: PushMessage.Problem.self) { try PushMessage.decrypt(body, key: key, secret: wrong) }
    }
}
