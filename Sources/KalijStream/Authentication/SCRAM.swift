import KalijAddress

/// The client's side of a SCRAM authentication (RFC 5802, RFC 7677), with or without channel binding.
///
/// ```swift
/// var scram = try SCRAM(mechanism: .scramSHA256, username: "user", credentials: .password("pencil"), nonce: nonce)
/// send(scram.firstMessage)
/// send(try scram.respond(to: serverFirst))
/// try scram.verify(serverFinal)
/// ```
public struct SCRAM: Sendable {
    private enum State: Sendable {
        case first
        case final(expectedSignature: [UInt8], keys: SCRAMKeys)
        case verified(SCRAMKeys)
    }

    /// The accepted iteration counts. With fewer than 4096 (RFC 7677, 4), a compromised server could request proofs that make passwords
    /// easy to guess; more than ten million would occupy a phone for a long time.
    public static let acceptedIterations = 4096...10_000_000

    private let mechanism: SASLMechanism
    private let digest: HashFunction
    private let credentials: Credentials
    private let nonce: String
    private let firstBare: String
    private let binding: Binding
    private var state = State.first
    /// Whether the server's hash of its lists was correct (XEP-0474).
    private(set) var isListGenuine = false

    /// The channel binding of an exchange (RFC 5802, 6).
    public enum Binding: Hashable, Sendable {
        /// The client does not support binding.
        case unsupported
        /// The client supports binding, and the server does not offer it.
        case unoffered
        /// The exchange is bound to the connection.
        case bound(ChannelBindings.Kind, [UInt8])

        /// GS2 header, without an authorization identity (RFC 5802, 7).
        var header: String {
            switch self {
            case .unsupported: "n,,"
            case .unoffered: "y,,"
            case .bound(let kind, _): "p=\(kind.rawValue),,"
            }
        }

        /// `cbind-input`
        var input: [UInt8] {
            if case .bound(_, let data) = self { Array(header.utf8) + data } else { Array(header.utf8) }
        }
    }

    /// Begins an authentication.
    ///
    /// - Parameters:
    ///   - mechanism: a SCRAM mechanism.
    ///   - username: the local part of the account, prepared here with SASLprep.
    ///   - credentials: keys have to be of the same mechanism.
    ///   - nonce: at least 16 random bytes as printable ASCII without commas, never used before.
    ///   - binding: the channel binding; by default none.
    /// - Throws: `AuthenticationError`, if the user name cannot be prepared, the nonce has forbidden characters, or mechanism and
    ///   credentials do not match.
    public init(
        mechanism: SASLMechanism, username: String, credentials: Credentials, nonce: String,
        binding: Binding = .unsupported
    ) throws(AuthenticationError) {
        guard let digest = mechanism.digest else { throw .noMechanism(offered: [mechanism.rawValue]) }
        guard !nonce.isEmpty, nonce.utf8.allSatisfy(SCRAMMessage.isNonceByte) else { throw .invalidNonce }
        if case .keys(let keys) = credentials, keys.mechanism != mechanism {
            throw .passwordNeeded(.mechanismNotOffered)
        }
        self.mechanism = mechanism
        self.digest = digest
        self.credentials = credentials
        self.nonce = nonce
        self.binding = binding
        self.firstBare = "n=\(SCRAMMessage.escape(try Preparation.username(username))),r=\(nonce)"
    }

    /// The client's first message.
    public var firstMessage: String { binding.header + firstBare }

    /// The keys to be stored; nil until the server's signature was verified.
    public var keys: SCRAMKeys? {
        if case .verified(let keys) = state { keys } else { nil }
    }

    /// Responds to the server's first message with the client's final message.
    ///
    /// If the credentials are a password, the duration is proportional to the iteration count.
    ///
    /// - Throws: `AuthenticationError.invalidMessage` if the message violates RFC 5802, 7, or the nonce does not extend the client's,
    ///   `.iterationsOutOfBounds`, or `.passwordNeeded` if stored keys are no longer valid.
    public mutating func respond(to serverFirst: String) throws(AuthenticationError) -> String {
        try respond(to: serverFirst, lists: nil)
    }

    /// Like ``respond(to:)``, but first verifies the server's hash of its lists, if there is one (XEP-0474).
    ///
    /// - Parameter lists: the received lists, in the form that is hashed.
    mutating func respond(to serverFirst: String, lists: [UInt8]?) throws(AuthenticationError) -> String {
        guard case .first = state else { throw .invalidMessage("a second first message of the server") }
        let first = try SCRAMMessage.First(serverFirst)
        guard first.nonce.utf8.starts(with: nonce.utf8), first.nonce.utf8.count > nonce.utf8.count else {
            throw .invalidMessage("the server's nonce does not continue ours")
        }
        if let lists, let hash = first.hash {
            guard Base64.decode(hash) == (try digest.hash(lists)) else { throw .tamperedOffer }
            isListGenuine = true
        }
        let keys = try self.keys(for: first)
        let withoutProof = "c=\(Base64.encode(binding.input)),r=\(first.nonce)"
        let message = Array("\(firstBare),\(serverFirst),\(withoutProof)".utf8)
        let signature = try digest.authenticate(message, key: try digest.hash(keys.clientKey))
        let proof = zip(keys.clientKey, signature).map { $0 ^ $1 }
        state = .final(expectedSignature: try digest.authenticate(message, key: keys.serverKey), keys: keys)
        return "\(withoutProof),p=\(Base64.encode(proof))"
    }

    /// Verifies the server's final message, by which the server proves that it has the password.
    ///
    /// - Throws: `AuthenticationError.wrongServerSignature`, `.refusedByServer` for an "e=", `.invalidMessage`.
    public mutating func verify(_ serverFinal: String) throws(AuthenticationError) {
        guard case .final(let expected, let keys) = state else {
            throw .invalidMessage("a final message of the server before our proof")
        }
        guard HashFunction.areEqual(try SCRAMMessage.signature(in: serverFinal), expected) else {
            throw .wrongServerSignature
        }
        state = .verified(keys)
    }

    private func keys(for first: SCRAMMessage.First) throws(AuthenticationError) -> SCRAMKeys {
        switch credentials {
        case .keys(let keys):
            guard keys.salt == first.salt, keys.iterations == first.iterations else {
                throw .passwordNeeded(.serverChangedSalt)
            }
            guard keys.clientKey.count == digest.size, keys.serverKey.count == digest.size else {
                throw .passwordNeeded(.keysDamaged)
            }
            return keys
        case .password(let password):
            let prepared = Array(try Preparation.password(password).utf8)
            let salted = try digest.stretch(prepared, salt: first.salt, iterations: first.iterations)
            return SCRAMKeys(
                mechanism: mechanism, salt: first.salt, iterations: first.iterations,
                clientKey: try digest.authenticate(Array("Client Key".utf8), key: salted),
                serverKey: try digest.authenticate(Array("Server Key".utf8), key: salted))
        }
    }
}

/// Prepares user name and password in the form that both sides hash.
enum Preparation {
    static func username(_ text: String) throws(AuthenticationError) -> String {
        let prepared: String
        do { prepared = try PreparationProfile.saslprep.prepare(text) } catch { throw .invalidUsername(error) }
        guard !prepared.isEmpty else { throw .invalidUsername(.forbiddenSequence) }
        return prepared
    }

    static func password(_ text: String) throws(AuthenticationError) -> String {
        let prepared: String
        do { prepared = try PreparationProfile.saslprep.prepare(text) } catch { throw .invalidPassword }
        guard !prepared.isEmpty else { throw .invalidPassword }
        return prepared
    }
}
