/// A secret that all nodes have, beside each node's own.
public struct ClusterSecret: Sendable {
    private let secret: [UInt8]
    /// Identifies the secret without revealing it.
    let id: [UInt8]
    /// For the hashes of tokens and domains, which have to be the same on all nodes.
    let hashing: [UInt8]

    /// - Parameter secret: at least 32 bytes.
    /// - Throws: `Seal.Problem` for fewer.
    public init(_ secret: [UInt8]) throws(Seal.Problem) {
        guard let id = try? Derivation.key(secret, for: "kalij-push cluster id"),
            let hashing = try? Derivation.key(secret, for: "kalij-push cluster hash")
        else { throw Seal.Problem() }
        self.secret = secret
        self.id = Array(id.prefix(4))
        self.hashing = hashing
    }

    /// A stream's own seal: each key has one writer.
    func seal(of stream: String) throws(Seal.Problem) -> Seal {
        try Seal(secret: secret, purpose: "kalij-push cluster stream \(stream)")
    }
}

/// Seals the entries of the streams: a server that keeps them can withhold them, but neither read nor forge them.
struct ClusterKeys: Sendable {
    enum Opened {
        case plain([UInt8])
        /// Sealed with a secret that is not, or no more, in the configuration.
        case unknownSecret
        case broken
    }

    private static let format: UInt8 = 1

    /// The first one writes; all of them read.
    private let secrets: [ClusterSecret]
    private let maxBlock: Milliseconds
    private var seals: [String: [Seal]] = [:]

    /// - Parameters:
    ///   - secrets: at least one.
    ///   - longest: the longest block. Nodes that disagree about it cannot read each other.
    init(_ secrets: [ClusterSecret], streams: [String], longest: Milliseconds) throws(Seal.Problem) {
        self.secrets = secrets
        self.maxBlock = longest
        for stream in streams {
            var all: [Seal] = []
            for secret in secrets { all.append(try secret.seal(of: stream)) }
            seals[stream] = all
        }
    }

    /// The secret that writes.
    var id: [UInt8] { secrets.first?.id ?? [] }

    /// - Returns: a byte of the format, 4 of the secret's name, and the sealed bytes; nil if OpenSSL fails.
    func seal(_ plain: [UInt8], stream: String, id: UInt64) -> [UInt8]? {
        guard let secret = secrets.first, let seal = seals[stream]?.first else { return nil }
        let about = about(stream, id, secret)
        return (try? seal.seal(plain, about: about)).map { [Self.format] + secret.id + $0 }
    }

    func open(_ value: [UInt8], stream: String, id: UInt64) -> Opened {
        guard value.count >= 5, value[0] == Self.format else { return .broken }
        guard let index = secrets.firstIndex(where: { $0.id.elementsEqual(value[1..<5]) }), let all = seals[stream]
        else { return .unknownSecret }
        let about = about(stream, id, secrets[index])
        return all[index].open(value.dropFirst(5), about: about).map { .plain($0) } ?? .broken
    }

    private func about(_ stream: String, _ id: UInt64, _ secret: ClusterSecret) -> [UInt8] {
        var bytes = Array(stream.utf8) + [0]
        withUnsafeBytes(of: (id.bigEndian, UInt64(bitPattern: maxBlock).bigEndian)) { bytes += $0 }
        return bytes + secret.id
    }
}
