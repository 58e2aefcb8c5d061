import KalijXML

/// A SASL exchange in XMPP (RFC 6120, 6.4). Runs only inside TLS: `Negotiation` makes sure.
struct Authentication: Sendable {
    private enum Method: Sendable {
        case plain
        case scram(SCRAM, hasAnswered: Bool)
    }

    let mechanism: SASLMechanism
    /// `<auth/>` with the initial response.
    let request: [UInt8]
    private var method: Method

    init(_ configuration: Negotiation.Configuration, offered: [String]) throws(AuthenticationError) {
        let username = configuration.account.local ?? ""
        mechanism = try .strongest(
            of: offered, credentials: configuration.credentials, pinned: configuration.weakestMechanism)
        let response: String
        if mechanism == .plain {
            guard case .password(let password) = configuration.credentials else {
                throw .passwordNeeded(.mechanismNotOffered)
            }
            // RFC 4616: authorization identity (none), user name and password, with zeros between.
            response = "\0\(try Preparation.username(username))\0\(try Preparation.password(password))"
            method = .plain
        } else {
            let scram = try SCRAM(
                mechanism: mechanism, username: username, credentials: configuration.credentials,
                nonce: configuration.nonce)
            response = scram.firstMessage
            method = .scram(scram, hasAnswered: false)
        }
        request = Element(
            "auth", xmlns: Namespace.sasl, attributes: ["mechanism": mechanism.rawValue],
            text: Base64.encode(response.utf8)
        ).bytes(in: Namespace.client)
    }

    /// Answers `<challenge/>` with `<response/>`.
    mutating func answer(_ challenge: String) throws(AuthenticationError) -> [UInt8] {
        guard case .scram(var scram, let hasAnswered) = method else {
            throw .invalidMessage("a challenge that \(mechanism) does not have")
        }
        let message = try decode(challenge)
        var answer = ""
        if hasAnswered {
            // The server may send its final message here, and an empty <success/> afterwards.
            try scram.verify(message)
        } else {
            answer = try scram.respond(to: message)
        }
        method = .scram(scram, hasAnswered: true)
        return Element("response", xmlns: Namespace.sasl, text: Base64.encode(answer.utf8)).bytes(in: Namespace.client)
    }

    /// Takes `<success/>`; returns the keys to be stored.
    mutating func finish(_ data: String) throws(AuthenticationError) -> SCRAMKeys? {
        guard case .scram(var scram, _) = method else { return nil }
        if scram.keys == nil {
            // RFC 6120, 6.4.6: "=" stands for data of no length.
            guard !data.isEmpty, data != "=" else { throw .missingServerSignature }
            try scram.verify(try decode(data))
        }
        return scram.keys
    }

    private func decode(_ text: String) throws(AuthenticationError) -> String {
        guard let bytes = Base64.decode(text), let message = String(validating: bytes, as: UTF8.self) else {
            throw .invalidMessage("it is no text in Base64")
        }
        return message
    }
}
