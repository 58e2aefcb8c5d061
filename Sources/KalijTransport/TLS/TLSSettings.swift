/// How a connection is to be secured. TLS 1.2 is the least accepted version, and the certificate is always verified.
public struct TLSSettings: Sendable {
    /// A file of trusted certificates in PEM form, instead of the system's.
    public var caFile: String?
    /// The name in the certificate and in SNI: the XMPP domain, not the SRV target (RFC 6120 13.7.2, RFC 9525 6).
    /// ASCII; an address is verified as an address.
    public var serverName: String
    /// The protocols offered in direct TLS (XEP-0368 3). Not sent after STARTTLS.
    public var alpn: [String]
    /// The identity for a server that requests a certificate; nil for none.
    public var identity: TLSIdentity?
    /// The bytes of a ``ConnectionEvent/ticket(_:)``, for a handshake without the server's certificate. Use a ticket once (RFC
    /// 8446 C.4), and keep it as secret as a password. Ignored if damaged, too old, for another server name, or if the
    /// certificates of its original handshake would not be accepted today. A server may refuse a ticket; the handshake is then
    /// the usual one.
    public var ticket: [UInt8]?
    /// Whether the server's tickets are reported.
    public var wantsTickets: Bool

    public init(
        serverName: String, caFile: String? = nil, alpn: [String] = ["xmpp-client"], identity: TLSIdentity? = nil,
        ticket: [UInt8]? = nil, wantsTickets: Bool = false
    ) {
        self.caFile = caFile
        self.serverName = serverName
        self.alpn = alpn
        self.identity = identity
        self.ticket = ticket
        self.wantsTickets = wantsTickets
    }

    /// Why no connection can be secured with these settings, independent of the server; nil if there is no such reason.
    public var fault: String? {
        do throws(TLSProblem) {
            _ = try TLSContext(self)
            return nil
        } catch {
            return error.reason
        }
    }
}
