import KalijText

/// The server's messages (RFC 5802, 7).
enum SCRAMMessage {
    /// `[reserved-mext ","] nonce "," salt "," iteration-count ["," extensions]`
    struct First {
        let nonce: String
        let salt: [UInt8]
        let iterations: Int
        /// The hash of the server's lists (XEP-0474).
        let hash: String?

        init(_ message: String) throws(AuthenticationError) {
            let fields = message.parts(at: ",")
            if let first = fields.first { try SCRAMMessage.checkLeading(first) }
            guard fields.count >= 3 else { throw .invalidMessage("nonce, salt or iteration count are missing") }
            guard let nonce = value(of: "r", in: fields[0]), nonce.utf8.allSatisfy(isNonceByte), !nonce.isEmpty else {
                throw .invalidMessage("no valid nonce")
            }
            guard let text = value(of: "s", in: fields[1]), let salt = Base64.decode(text), !salt.isEmpty else {
                throw .invalidMessage("no valid salt")
            }
            guard let digits = value(of: "i", in: fields[2]), let iterations = decimal(digits) else {
                throw .invalidMessage("no valid iteration count")
            }
            guard SCRAM.acceptedIterations ~= iterations else { throw .iterationsOutOfBounds(iterations) }
            try SCRAMMessage.checkExtensions(fields[3...])
            self.nonce = nonce
            self.salt = salt
            self.iterations = iterations
            hash = fields[3...].lazy.compactMap { value(of: "h", in: $0) }.first
        }
    }

    /// The signature in `(server-error / verifier) ["," extensions]`.
    static func signature(in message: String) throws(AuthenticationError) -> [UInt8] {
        let fields = message.parts(at: ",")
        guard let first = fields.first else { throw .invalidMessage("an empty final message") }
        try checkLeading(first)
        guard let text = value(of: "v", in: first), let signature = Base64.decode(text) else {
            throw .invalidMessage("no valid signature")
        }
        try checkExtensions(fields[1...])
        return signature
    }

    /// A saslname: the two special characters are escaped.
    static func escape(_ name: String) -> String {
        var escaped = ""
        for character in name.unicodeScalars {
            switch character {
            case "=": escaped += "=3D"
            case ",": escaped += "=2C"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// printable = %x21-2B / %x2D-7E
    static func isNonceByte(_ byte: UInt8) -> Bool { 0x21...0x7E ~= byte && byte != UInt8(ascii: ",") }

    /// A mandatory extension ("m=") and an error ("e=") are in the first place.
    private static func checkLeading(_ field: String) throws(AuthenticationError) {
        if field.utf8.starts(with: "m=".utf8) { throw .invalidMessage("an extension that is mandatory and unknown") }
        if let reason = value(of: "e", in: field) { throw .refusedByServer(reason: printable(reason)) }
    }

    /// Optional extensions are skipped if well-formed.
    private static func checkExtensions(_ fields: ArraySlice<String>) throws(AuthenticationError) {
        for field in fields {
            let bytes = Array(field.utf8.prefix(2))
            let isLetter = bytes.first.map { byte in UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 } ?? false
            guard bytes.count == 2, isLetter, bytes[1] == UInt8(ascii: "=") else {
                throw .invalidMessage("something that is no extension")
            }
            try checkLeading(field)
        }
    }

    private static func value(of name: String, in field: String) -> String? { field.rest(after: "\(name)=") }

    private static func decimal(_ digits: String) -> Int? {
        // `Int(_:)` would accept a sign.
        guard let first = digits.utf8.first, UInt8(ascii: "1")...UInt8(ascii: "9") ~= first else { return nil }
        return Int(digits)
    }

    /// The server's text, truncated and without control characters, for use in messages.
    private static func printable(_ text: String) -> String {
        String(text.unicodeScalars.prefix(100).filter { 0x20..<0x7F ~= $0.value })
    }
}
