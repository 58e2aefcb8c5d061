@testable import KalijStream

/// The server's side of SCRAM (RFC 5802).
struct SimulatedSCRAM {
    /// The server's first message.
    let challenge: String
    /// The client's flag for channel binding: "n", "y" or "p".
    let flag: Character
    let name: String
    private let digest: HashFunction
    private let keys: Keys
    private let header: String
    private let bare: String
    private let binding: [UInt8]

    private struct Keys {
        let stored: [UInt8]
        let server: [UInt8]
    }

    /// The least number that a client accepts.
    private static let iterations = 4096
    // Stretching takes milliseconds; the simulations of a program run one at a time.
    nonisolated(unsafe) private static var known: [String: Keys] = [:]

    /// Begins an exchange; nil if the client's message cannot be read.
    /// - Parameters:
    ///   - name: the mechanism.
    ///   - text: the client's message, in Base64.
    ///   - nonce: the server's part.
    ///   - hash: the lists to be hashed (XEP-0474); nil without.
    init?(_ name: String, _ text: String, password: String, nonce: String, exporter: [UInt8], hash: [UInt8]?) {
        digest = name.hasPrefix("SCRAM-SHA-256") ? .sha256 : .sha1
        guard let bytes = Base64.decode(text) else { return nil }
        let message = String(decoding: bytes, as: UTF8.self)
        let parts = message.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let flag = parts[0].first, let place = parts[2].firstRange(of: ",r=")?.upperBound
        else { return nil }
        guard name.hasSuffix("-PLUS") == (parts[0] == "p=tls-exporter") else { return nil }
        (self.name, self.flag, header, bare) = (name, flag, "\(parts[0]),\(parts[1]),", String(parts[2]))
        binding = flag == "p" ? exporter : []
        // Another password has another salt.
        let salt = Array("salt of \(password)".utf8)
        guard let keys = try? Self.keys(digest, password, salt) else { return nil }
        self.keys = keys
        var challenge = "r=\(parts[2][place...])\(nonce),s=\(Base64.encode(salt)),i=\(Self.iterations)"
        if let hash, let hashed = try? digest.hash(hash) { challenge += ",h=\(Base64.encode(hashed))" }
        self.challenge = challenge
    }

    /// Takes the client's final message.
    /// - Returns: the server's final message; nil if the proof is wrong.
    func finish(_ text: String) -> String? {
        guard let bytes = Base64.decode(text) else { return nil }
        let message = String(decoding: bytes, as: UTF8.self)
        guard let place = message.firstRange(of: ",p=") else { return nil }
        let (without, proof) = (message[..<place.lowerBound], Base64.decode(message[place.upperBound...]) ?? [])
        let nonce = challenge.prefix { $0 != "," }
        guard without == "c=\(Base64.encode(Array(header.utf8) + binding)),\(nonce)" else { return nil }
        let whole = Array("\(bare),\(challenge),\(without)".utf8)
        guard let signature = try? digest.authenticate(whole, key: keys.stored), proof.count == signature.count,
            (try? digest.hash(zip(proof, signature).map { $0 ^ $1 })) == keys.stored,
            let own = try? digest.authenticate(whole, key: keys.server)
        else { return nil }
        return "v=\(Base64.encode(own))"
    }

    /// Whether these are the keys of the password.
    static func fits(_ keys: SCRAMKeys, _ password: String) -> Bool {
        let digest = keys.mechanism == .scramSHA256 ? HashFunction.sha256 : .sha1
        guard let own = try? Self.keys(digest, password, keys.salt) else { return false }
        return own.server == keys.serverKey
    }

    private static func keys(_ digest: HashFunction, _ password: String, _ salt: [UInt8]) throws -> Keys {
        let name = "\(digest) \(password) \(salt)"
        if let known = known[name] { return known }
        let salted = try digest.stretch(Array(password.utf8), salt: salt, iterations: iterations)
        let keys = Keys(
            stored: try digest.hash(try digest.authenticate(Array("Client Key".utf8), key: salted)),
            server: try digest.authenticate(Array("Server Key".utf8), key: salted))
        known[name] = keys
        return keys
    }
}
