import Foundation
import KalijRatchet
import Testing

/// The content of a bundle, right unless changed.
struct BundleText {
    var identity: [UInt8]
    var signed: [UInt8]
    var signature: [UInt8]
    var prekeys: [[UInt8]]

    init(prekeys count: Int = 10) throws {
        let own = try Identity.make()
        let pair = try KeyPair.make()
        identity = OMEMOVersion.axolotl.written(own.publicIdentity)
        signed = OMEMOVersion.axolotl.written(pair.key)
        signature = try own.sign(pair.key, .axolotl)
        prekeys = try (0..<min(count, 100)).map { _ in OMEMOVersion.axolotl.written(try KeyPair.make().key) }
        while prekeys.count < count { prekeys.append(prekeys[prekeys.count % 100]) }
    }

    var xml: String {
        func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
        let list = prekeys.enumerated().map { "<preKeyPublic preKeyId='\($0 + 1)'>\(text($1))</preKeyPublic>" }
        return """
            <bundle xmlns='eu.siacs.conversations.axolotl'><signedPreKeyPublic signedPreKeyId='1'>\(text(signed))\
            </signedPreKeyPublic><signedPreKeySignature>\(text(signature))</signedPreKeySignature>\
            <identityKey>\(text(identity))</identityKey><prekeys>\(list.joined())</prekeys></bundle>
            """
    }
}

/// What an address publishes.
struct HostileKeys {
    private static let namespace = "eu.siacs.conversations.axolotl"
    let client: RawClient

    init(_ client: RawClient) { self.client = client }

    func list(_ devices: [Int]) async throws {
        let items = devices.map { "<device id='\($0)'/>" }.joined()
        let answer = try await client.publish(
            "<list xmlns='\(Self.namespace)'>\(items)</list>", to: Self.namespace + ".devicelist")
        #expect(answer.type == "result", "\(answer)")
    }

    @discardableResult
    func bundle(_ device: Int, _ text: BundleText) async throws -> RawClient.Stanza {
        try await client.publish(text.xml, to: "\(Self.namespace).bundles:\(device)")
    }

    /// Publishes bundles that are wrong each in a way of its own, for the device `first` and the next ones.
    func hostileBundles(_ first: Int) async throws {
        var device = first
        func publish(_ change: (inout BundleText) throws -> Void) async throws {
            var text = try BundleText()
            try change(&text)
            let answer = try await bundle(device, text)
            #expect(answer.type == "result", "\(answer)")
            device += 1
        }
        for bad in HostileDevices.badKeys.prefix(3) {
            try await publish { $0.identity = [5] + bad }
            try await publish { $0.signed = [5] + bad }
            try await publish { $0.prekeys = $0.prekeys.map { _ in [5] + bad } }
        }
        try await publish { $0.identity = [5] + HostileDevices.badKeys[3] }
        try await publish { $0.signature[5] ^= 1 }
        try await publish { $0.signature = [UInt8](repeating: 0, count: 64) }
        try await publish { $0.signature = [] }
        try await publish { $0.prekeys = [] }
        try await publish { $0.identity.removeFirst() }
        try await publish { $0.prekeys = [[UInt8](repeating: 5, count: 20_000)] }
        try await publish { $0.signature += [UInt8](repeating: 5, count: 120_000) }
    }

    /// Publishes a bundle with many prekeys.
    /// - Returns: whether the server takes it.
    func largeBundle(_ device: Int, prekeys count: Int) async throws -> Bool {
        let text = try BundleText(prekeys: count)
        let answer = try await bundle(device, text)
        print("a bundle of \(count) prekeys, \(text.xml.utf8.count) bytes: \(answer.type)")
        return answer.type == "result"
    }
}
