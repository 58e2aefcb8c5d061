/// A chain of message keys (Double Ratchet section 5.2).
struct Chain: Sendable {
    /// The chain key after `number` messages.
    let key: Secret
    /// The number of the next message.
    let number: UInt32

    /// The key of the next message, and the chain behind that message.
    /// - Throws: `RatchetError.exhausted`
    func next() throws -> (messageKey: Secret, chain: Chain) {
        guard number < RatchetLimits.largestNumber else { throw RatchetError.exhausted }
        return (try Hash.derive(1, key: key), Chain(key: try Hash.derive(2, key: key), number: number + 1))
    }

    /// The chain at `number`; the keys of the skipped messages are added to `skipped`, as keys of the chain of `key`.
    /// - Throws: `RatchetError.keyGone` if the chain is past `number`; `tooFar`, before anything is derived.
    func skip(to number: UInt32, _ key: PublicKey, _ skipped: inout [Session.SkippedKey]) throws -> Chain {
        guard number >= self.number else { throw RatchetError.keyGone }
        guard number - self.number <= RatchetLimits.mostSkipped else { throw RatchetError.tooFar }
        var chain = self
        while chain.number < number {
            let (messageKey, behind) = try chain.next()
            skipped.append(Session.SkippedKey(name: .init(key: key, number: chain.number), messageKey: messageKey))
            chain = behind
        }
        return chain
    }

    /// How many messages of this chain are missing, if `message` begins the next chain. Peers with libsignal report one less than
    /// they have sent (measured).
    func gap(before message: RatchetMessage.Header) -> Int {
        message.previous >= number ? Int(message.previous) + 1 - Int(number) : 0
    }

    /// A new root key and chain (section 7.2).
    static func begin(root: Secret, agreed: Secret, _ dialect: OMEMOVersion) throws -> (root: Secret, chain: Chain) {
        let keys = try Hash.expand(agreed, salt: root, info: dialect.rootInfo, count: 64)
        return (keys.part(0..<32), Chain(key: keys.part(32..<64), number: 0))
    }
}

/// What seals a single message.
struct MessageKeys {
    private let cipher: Secret
    private let mac: Secret
    private let iv: Secret
    private let dialect: OMEMOVersion

    init(_ messageKey: Secret, _ dialect: OMEMOVersion) throws {
        let keys = try Hash.expand(messageKey, info: dialect.messageInfo, count: 80)
        (cipher, mac, iv) = (keys.part(0..<32), keys.part(32..<64), keys.part(64..<80))
        self.dialect = dialect
    }

    /// A whole message.
    func seal(_ content: Secret, _ header: RatchetMessage.Header, _ associated: [UInt8]) throws -> [UInt8] {
        let sealed = try content.withBytes { try Cipher.encrypt($0, key: cipher, iv: iv) }
        let authenticated = RatchetMessage.authenticated(header, sealed, dialect)
        let code = try Hash.authenticate([associated, authenticated], key: mac)
        return RatchetMessage.bytes(authenticated, mac: code.part(0..<dialect.macCount).exported, dialect)
    }

    /// - Throws: `RatchetError.mac`
    func open(_ message: RatchetMessage, _ associated: [UInt8]) throws -> Secret {
        let code = try Hash.authenticate([associated, Array(message.authenticated)], key: mac)
        guard Hash.areEqual(code.part(0..<dialect.macCount), message.mac) else { throw RatchetError.mac }
        return try Cipher.decrypt(Array(message.sealed), key: cipher, iv: iv)
    }
}
