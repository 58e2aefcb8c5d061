@testable import KalijStream

/// The tokens of a server (XEP-0484): of each agent the present one and a newer one that has not worked yet.
struct SimulatedTokens {
    struct Token {
        let secret: String
        let agent: String
        let mechanism: String
        /// In microseconds of the world.
        let end: Int64
        var isVoid = false
        /// The counts of the logins that have left the client.
        var counts: Set<Int> = []
    }

    private(set) var all: [Token] = []

    /// Makes a new token.
    /// - Parameters:
    ///   - presented: the token of the login, which stays until the new one has worked; nil: the newest stays.
    ///   - atOnce: whether all older tokens end now.
    mutating func give(
        to agent: String, for mechanism: String, secret: String, end: Int64, presented: Int?, atOnce: Bool
    ) {
        let valid = all.indices.filter { all[$0].agent == agent && !all[$0].isVoid }
        for index in valid where atOnce || index != presented ?? valid.last { all[index].isVoid = true }
        all.append(Token(secret: secret, agent: agent, mechanism: mechanism, end: end))
    }

    /// The number of the token whose proof this is.
    func find(_ message: [UInt8], exporter: [UInt8]) -> Int? {
        guard let zero = message.firstIndex(of: 0) else { return nil }
        let proof = Array(message[(zero + 1)...])
        return all.indices.last { Self.proof("Initiator", all[$0], exporter) == proof }
    }

    /// A login with the token has worked: older tokens end.
    /// - Returns: the server's own proof.
    mutating func worked(_ index: Int, exporter: [UInt8]) -> String {
        for older in all.indices.prefix(index) where all[older].agent == all[index].agent { all[older].isVoid = true }
        return Base64.encode(Self.proof("Responder", all[index], exporter))
    }

    mutating func end(_ index: Int) { all[index].isVoid = true }
    mutating func endAll() { for index in all.indices { all[index].isVoid = true } }

    /// A login with the token leaves the client.
    /// - Returns: whether the count is new.
    mutating func count(_ count: Int, of index: Int) -> Bool { all[index].counts.insert(count).inserted }

    private static func proof(_ role: String, _ token: Token, _ exporter: [UInt8]) -> [UInt8] {
        (try? HashFunction.sha256.authenticate(Array(role.utf8) + exporter, key: Array(token.secret.utf8))) ?? []
    }
}
