import COpenSSL

/// The text of a message, sealed once for all devices (XEP-0384 section 4.4 of 2, section 4.6 of 0.3).
public struct Payload: Sendable {
    /// The content for each device's ratchet: the key, and what authenticates the text.
    public let content: Secret
    /// The sealed text; nil in an empty message.
    public let sealed: [UInt8]?
    /// 12 bytes in 0.3; nil in 2.
    public let iv: [UInt8]?

    // MARK: Sealing

    /// Seals `text` under a key that is used once.
    /// - Throws: `RatchetError.library`
    package init(_ text: [UInt8], _ dialect: OMEMOVersion, _ random: Randomness = .system) throws {
        defer { kalij_overwrite_stack() }
        switch dialect {
        case .axolotl:
            let (key, iv) = (try Secret.random(16, random), try random.bytes(12))
            let (sealed, tag) = try Cipher.seal(text, key: key, iv: iv)
            (self.sealed, self.iv, content) = (sealed, iv, key.appending(tag))
        case .omemo2:
            let key = try Secret.random(32, random)
            let keys = try Keys(key)
            let sealed = try text.withUnsafeBytes { try Cipher.encrypt($0, key: keys.cipher, iv: keys.iv) }
            (self.sealed, iv, content) = (sealed, nil, key.appending(try keys.code(sealed).exported))
        }
    }

    public init(_ text: [UInt8], _ dialect: OMEMOVersion) throws { try self.init(text, dialect, .system) }

    /// An empty message: it advances the ratchet, and has no text.
    package init(emptyIn dialect: OMEMOVersion, _ random: Randomness = .system) throws {
        switch dialect {
        case .axolotl: (content, sealed, iv) = (try .random(16, random), nil, try random.bytes(12))
        case .omemo2: (content, sealed, iv) = (Secret([UInt8](repeating: 0, count: 32)), nil, nil)
        }
    }

    public init(emptyIn dialect: OMEMOVersion) throws { try self.init(emptyIn: dialect, .system) }

    // MARK: Opening

    /// The text of a message with the content of a ratchet's message.
    /// - Parameters:
    ///   - sealed: the payload.
    ///   - iv: 12 bytes, or 16, in 0.3.
    /// - Throws: `RatchetError.mac`, `malformed`.
    public static func open(_ sealed: [UInt8], iv: [UInt8]?, content: Secret, _ dialect: OMEMOVersion) throws -> [UInt8]
    {
        defer { kalij_overwrite_stack() }
        switch dialect {
        case .axolotl:
            guard let iv, [12, 16].contains(iv.count) else { throw RatchetError.malformed("the IV") }
            // Old clients leave the tag at the end of the payload.
            let isOld = content.count == 16
            guard isOld ? sealed.count >= 16 : content.count == 32 else {
                throw RatchetError.malformed("the key of the payload")
            }
            let tag = isOld ? Array(sealed.suffix(16)) : content.part(16..<32).exported
            return try Cipher.open(
                isOld ? Array(sealed.dropLast(16)) : sealed, tag: tag, key: content.part(0..<16), iv: iv)
        case .omemo2:
            guard content.count == 48 else { throw RatchetError.malformed("the key of the payload") }
            let keys = try Keys(content.part(0..<32))
            guard Hash.areEqual(try keys.code(sealed), content.part(32..<48).exported) else { throw RatchetError.mac }
            return try Cipher.decrypt(sealed, key: keys.cipher, iv: keys.iv).exported
        }
    }

    /// The keys of a payload in 2.
    private struct Keys {
        let cipher: Secret
        let iv: Secret
        private let mac: Secret

        init(_ key: Secret) throws {
            let keys = try Hash.expand(key, info: "OMEMO Payload", count: 80)
            (cipher, mac, iv) = (keys.part(0..<32), keys.part(32..<64), keys.part(64..<80))
        }

        func code(_ sealed: [UInt8]) throws -> Secret { try Hash.authenticate([sealed], key: mac).part(0..<16) }
    }
}

extension Secret {
    fileprivate func appending(_ bytes: [UInt8]) -> Secret {
        Secret(count: count + bytes.count) { output in
            withBytes { output.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: output[count...]).copyBytes(from: bytes)
        }
    }
}
