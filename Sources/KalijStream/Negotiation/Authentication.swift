import KalijXML

/// A SASL exchange, by RFC 6120, 6.4, or by XEP-0388. Runs only inside TLS, which `Negotiation` ensures.
struct Authentication: Sendable {
    private enum Method: Sendable {
        case plain(String)
        case scram(SCRAM, hasAnswered: Bool)
        case token(HashedToken)
    }

    /// The name of the mechanism for the server.
    let name: String
    private var method: Method
    /// The error that is thrown unless the server proves that its lists are genuine.
    private let descent: AuthenticationError?

    /// The maximum length of a message of the server in characters of Base64.
    private static let maxCharacters = 65_536

    /// An exchange with the credentials.
    init(
        _ choice: LoginMethod, _ configuration: Negotiation.Configuration, _ bindings: ChannelBindings
    ) throws(AuthenticationError) {
        let username = configuration.account.local ?? ""
        (name, descent) = (choice.name, choice.descent)
        if choice.mechanism == .plain {
            guard case .password(let password) = configuration.credentials else {
                throw .passwordNeeded(.mechanismNotOffered)
            }
            // RFC 4616: authorization identity (none), user name and password, with zeros between.
            method = .plain("\0\(try Preparation.username(username))\0\(try Preparation.password(password))")
            return
        }
        let binding: SCRAM.Binding
        if let kind = choice.binding {
            guard let data = bindings[kind] else { throw .bindingMissing(kind) }
            binding = .bound(kind, data)
        } else {
            binding = choice.flag == .unoffered ? .unoffered : .unsupported
        }
        let scram = try SCRAM(
            mechanism: choice.mechanism, username: username, credentials: configuration.credentials,
            nonce: configuration.nonce, binding: binding)
        method = .scram(scram, hasAnswered: false)
    }

    /// An exchange with a token (XEP-0484).
    init(_ token: HashedToken) {
        (name, method, descent) = (token.token.mechanism, .token(token), nil)
    }

    /// The token of the exchange.
    var token: FASTToken? {
        if case .token(let hashed) = method { hashed.token } else { nil }
    }

    /// Whether the exchange is a SCRAM exchange.
    var isSCRAM: Bool {
        if case .scram = method { true } else { false }
    }

    /// Whether the proof was computed.
    var hasAnswered: Bool {
        if case .scram(_, let hasAnswered) = method { hasAnswered } else { true }
    }

    /// The keys to be stored, after the end.
    var keys: SCRAMKeys? {
        if case .scram(let scram, _) = method { scram.keys } else { nil }
    }

    /// Whether the server has proven that its lists are genuine (XEP-0474).
    var isListGenuine: Bool {
        if case .scram(let scram, _) = method { scram.keys != nil && scram.isListGenuine } else { false }
    }

    /// The first message, in Base64.
    func firstMessage() throws(AuthenticationError) -> String {
        switch method {
        case .plain(let message): Base64.encode(message.utf8)
        case .scram(let scram, _): Base64.encode(scram.firstMessage.utf8)
        case .token(let hashed): Base64.encode(try hashed.firstMessage())
        }
    }

    /// Responds to a challenge. The proof is computed only if the offer is not below the pins, or proven to be genuine.
    ///
    /// - Parameters:
    ///   - challenge: the challenge in Base64.
    ///   - lists: the server's lists, in the form that XEP-0474 hashes.
    /// - Returns: the response in Base64.
    mutating func answer(_ challenge: String, lists: [UInt8]) throws(AuthenticationError) -> String {
        guard case .scram(var scram, let hasAnswered) = method else {
            throw .invalidMessage("a challenge that \(name) does not have")
        }
        let message = try decode(challenge)
        var answer = ""
        if hasAnswered {
            // The server may send its final message here, and an empty <success/> afterwards.
            try scram.verify(message)
        } else {
            answer = try scram.respond(to: message, lists: lists)
            if let descent, !scram.isListGenuine { throw descent }
        }
        method = .scram(scram, hasAnswered: true)
        return Base64.encode(answer.utf8)
    }

    /// Handles the additional data of a success, in Base64; verifies that the server has the password, or the token.
    mutating func finish(_ data: String) throws(AuthenticationError) {
        switch method {
        case .plain: break
        case .token(let hashed): try hashed.verify(try bytes(data))
        case .scram(var scram, let hasAnswered):
            if scram.keys == nil {
                // RFC 6120, 6.4.6: "=" stands for data of no length.
                guard !data.isEmpty, data != "=" else { throw .missingServerSignature }
                try scram.verify(try decode(data))
                method = .scram(scram, hasAnswered: hasAnswered)
            }
        }
    }

    private func decode(_ text: String) throws(AuthenticationError) -> String {
        guard let message = String(validating: try bytes(text), as: UTF8.self) else {
            throw .invalidMessage("it is no text in Base64")
        }
        return message
    }

    private func bytes(_ text: String) throws(AuthenticationError) -> [UInt8] {
        guard text.utf8.count <= Self.maxCharacters, let bytes = Base64.decode(TrimmedText.text(text)) else {
            throw .invalidMessage("it is no text in Base64")
        }
        return bytes
    }
}

/// The text of an element without surrounding whitespace, which examples of XEP-0388 have.
enum TrimmedText {
    static func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
