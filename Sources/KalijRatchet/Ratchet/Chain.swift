/// A chain of message keys (Double Ratchet section 5.2).
struct Chain: Sendable {
    /// The chain key after `number` messages.
    let key: Secret
    /// The number of the next message.
    let number: UInt32

    /// The key of the next message, and the chain behind that message.
    /// - Throws: `RatchetError.exhausted`
    func next() throws -> (messageKey: Secret, chain: Chain) {
        guard number < Limits.largestNumber else { throw RatchetError.exhausted }
        return (try Hash.derive(1, key: key), Chain(key: try Hash.derive(2, key: key), number: number + 1))
    }

    /// A new root key and chain (section 7.2).
    static func begin(root: Secret, agreed: Secret, _ dialect: Dialect) throws -> (root: Secret, chain: Chain) {
        let keys = try Hash.expand(agreed, salt: root, info: dialect.rootInfo, count: 64)
        return (keys.part(0..<32), Chain(key: keys.part(32..<64), number: 0))
    }
}

/// What seals a single message.
struct MessageKeys {
    private let cipher: Secret
    private let mac: Secret
    private let iv: Secret
    private let dialect: Dialect

    init(_ messageKey: Secret, _ dialect: Dialect) throws {
        let keys = try Hash.expand(messageKey, info: dialect.messageInfo, count: 80)
        (cipher, mac, iv) = (keys.part(0..<32), keys.part(32..<64), keys.part(64..<80))
        self.dialect = dialect
    }

    /// A whole message.
    func seal(_ content: Secret, _ header: RatchetMessage.Header, _ associated: [UInt8]) throws -> [UInt8] {
        let sealed = try content.withBytes { try Cipher.encrypt($0, key: cipher, iv: iv) }
        let authenticated = RatchetMessage.authenticated(header, sealed, dialect)
        let code = try Hash.authenticate([associated, authenticated], key: mac)
        return RatchetMessage.bytes(authenticated, mac: Array(code.prefix(dialect.macCount)), dialect)
    }

    /// - Throws: `RatchetError.mac`
    func open(_ message: RatchetMessage, _ associated: [UInt8]) throws -> Secret {
        let code = try Hash.authenticate([associated, Array(message.authenticated)], key: mac)
        guard Hash.areEqual(code.prefix(dialect.macCount), message.mac) else { throw RatchetError.mac }
        return try Cipher.decrypt(Array(message.sealed), key: cipher, iv: iv)
    }
}
