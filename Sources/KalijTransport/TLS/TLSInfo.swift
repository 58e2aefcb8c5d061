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
    /// The data of the channel binding `tls-server-end-point` (RFC 5929 4.1): a hash of the server's certificate. nil
    /// where the binding is not defined: a signature without a hash of its own, such as Ed25519's.
    public let serverEndPoint: [UInt8]?
    /// The protocol chosen by the server among the offered (RFC 7301); nil for none.
    public let alpn: String?
    /// Whether a ticket was offered: one that is too old, or whose certificates count no more, is not.
    public let hasOfferedTicket: Bool
    /// Whether the server has taken the ticket, and sent no certificate. The certificate is then that of the
    /// handshake in which the ticket was made.
    public let isResumed: Bool
    /// How long connecting took; nil if not measured.
    public internal(set) var times: HandshakeTimes?

    public init(
        version: String, cipher: String, notAfter: Int64?, tlsExporter: [UInt8]?, serverEndPoint: [UInt8]? = nil,
        alpn: String? = nil, hasOfferedTicket: Bool = false, isResumed: Bool = false, times: HandshakeTimes? = nil
    ) {
        self.version = version
        self.cipher = cipher
        self.notAfter = notAfter
        self.tlsExporter = tlsExporter
        self.serverEndPoint = serverEndPoint
        self.alpn = alpn
        self.hasOfferedTicket = hasOfferedTicket
        self.isResumed = isResumed
        self.times = times
    }
}

/// The measured times of connecting. The rate of a slow link is about `received / (handshake - round trip)` bytes a
/// second, the round trip being ``Connection/roundTrip``, or the time of the TCP connection: the answer to the first
/// message of the handshake takes a round trip, and its bytes take the rest.
public struct HandshakeTimes: Sendable, Equatable {
    /// Seconds from the first SYN to this address until the TCP connection was established.
    public let connect: Double
    /// Seconds of the TLS handshake, until the client's last message of the handshake was written.
    public let handshake: Double
    /// Bytes received in the TLS handshake.
    public let received: Int

    public init(connect: Double, handshake: Double, received: Int) {
        self.connect = connect
        self.handshake = handshake
        self.received = received
    }
}
