import COpenSSL

/// A ticket of a server (RFC 8446 4.6.1) in the form that outlives the process: what OpenSSL needs to offer the
/// ticket, and the certificates that have to be verified again before.
struct TLSTicket: Equatable {
    /// The name that the certificate was verified for.
    var serverName: String
    /// OpenSSL's session with its secret and the server's certificate, in DER.
    var session: [UInt8]
    /// The other certificates that the server sent in the handshake, in DER.
    var issuers: [[UInt8]]

    /// The bytes of an encoded ticket.
    static let limit = 16 * 1024
    private static let version: UInt8 = 1

    /// A version, the SHA-256 of the rest, and the fields with their lengths: a damaged ticket must not be sent to a server,
    /// which would end the connection.
    ///
    /// - Returns: nil if the ticket is over the limit.
    func encoded() -> [UInt8]? {
        var body: [UInt8] = []
        for field in [Array(serverName.utf8), session] + issuers {
            guard let length = UInt16(exactly: field.count), body.count + field.count < Self.limit else { return nil }
            body += withUnsafeBytes(of: length.bigEndian) { Array($0) } + field
        }
        let bytes = [Self.version] + Self.hash(body[...]) + body
        return bytes.count <= Self.limit ? bytes : nil
    }

    /// Reads an encoded ticket; nil if damaged.
    init?(_ bytes: [UInt8]) {
        let start = 1 + Int(SHA256_DIGEST_LENGTH)
        guard bytes.count >= start, bytes.count <= Self.limit, bytes[0] == Self.version,
            bytes[1..<start].elementsEqual(Self.hash(bytes[start...]))
        else { return nil }
        var rest = bytes[start...]
        var fields: [[UInt8]] = []
        while !rest.isEmpty {
            guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
            let length = Int(high) << 8 | Int(low)
            guard rest.count >= length else { return nil }
            fields.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        guard fields.count >= 2 else { return nil }
        serverName = String(decoding: fields[0], as: UTF8.self)
        session = fields[1]
        issuers = Array(fields[2...])
    }

    init(serverName: String, session: [UInt8], issuers: [[UInt8]]) {
        self.serverName = serverName
        self.session = session
        self.issuers = issuers
    }

    private static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        bytes.withUnsafeBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            _ = SHA256(start, buffer.count, &digest)
        }
        return digest
    }
}
