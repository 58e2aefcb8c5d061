/// How a connection is to be secured. TLS 1.2 is the least accepted version, and the certificate is always verified.
public struct TLSSettings: Sendable {
    /// A file of trusted certificates in PEM form, instead of the system's.
    public var caFile: String?
    /// The name in the certificate and in SNI: the XMPP domain, not the SRV target (RFC 6120 13.7.2, RFC 9525 6).
    /// ASCII; an address is verified as an address.
    public var serverName: String
    /// The protocols offered in direct TLS (XEP-0368 3). Not sent after STARTTLS.
    public var alpn: [String]
    /// The identity for a server that asks for a certificate; nil for none.
    public var identity: TLSIdentity?

    public init(
        serverName: String, caFile: String? = nil, alpn: [String] = ["xmpp-client"], identity: TLSIdentity? = nil
    ) {
        self.caFile = caFile
        self.serverName = serverName
        self.alpn = alpn
        self.identity = identity
    }
}

/// The result of a TLS handshake.
public struct TLSInfo: Sendable, Equatable {
    /// "TLSv1.3" or "TLSv1.2".
    public let version: String
    /// The cipher suite, for example "TLS_AES_256_GCM_SHA384".
    public let cipher: String
    /// When the server's certificate ends, in seconds since 1970.
    public let notAfter: Int64?
    /// The data of the channel binding `tls-exporter` (RFC 9266), 32 bytes; nil before TLS 1.3.
    public let tlsExporter: [UInt8]?
    /// The protocol chosen by the server among the offered (RFC 7301); nil for none.
    public let alpn: String?

    public init(version: String, cipher: String, notAfter: Int64?, tlsExporter: [UInt8]?, alpn: String? = nil) {
        self.alpn = alpn
        self.version = version
        self.cipher = cipher
        self.notAfter = notAfter
        self.tlsExporter = tlsExporter
    }
}
