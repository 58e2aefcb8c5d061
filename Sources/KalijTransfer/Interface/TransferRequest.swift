/// A file to be sent or fetched. HTTP/1.1 (RFC 9112) over TLS.
public struct TransferRequest: Sendable {
    public enum Method: Sendable, Hashable {
        case get, head, put
    }

    /// `https`, without a user name; the fragment does not leave.
    public var url: String
    public var method: Method
    /// Further fields of the head. Names are tokens, values without control characters (RFC 9110, 5.5); fields that the
    /// transport makes, such as Content-Length, are refused.
    public var fields: [HeaderField]
    /// A file of trusted certificates in PEM form, instead of the system's, as in `TLSSettings`.
    public var caFile: String?
    /// Hosts of the account's own server, such as its upload service. In lower case, without a port; an IPv6 address in brackets.
    public var ownHosts: Set<String>  // characters: compared by bytes, one by one.
    /// The address at which the account's own server was reached, such as "192.168.1.5". If private, the own hosts may have
    /// private addresses, too: on this machine only if the server is on this machine. Nil: no host may.
    public var ownAddress: String?
    /// GET: only the bytes from here on (RFC 9110, 14.1.2), at least 1.
    public var offset: Int64?
    /// With ``offset``: the validator of the earlier answer, an entity tag or a date (If-Range, RFC 9110, 13.1.5).
    public var validator: String?
    public var limits: TransferLimits

    public init(
        _ method: Method, url: String, fields: [HeaderField] = [], caFile: String? = nil, ownHosts: Set<String> = [],
        ownAddress: String? = nil, offset: Int64? = nil, validator: String? = nil,
        limits: TransferLimits = TransferLimits()
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.caFile = caFile
        self.ownHosts = ownHosts
        self.ownAddress = ownAddress
        self.offset = offset
        self.validator = validator
        self.limits = limits
    }
}

/// How long a transfer may last, and what the system may hold.
public struct TransferLimits: Sendable, Hashable {
    /// Seconds for name, connection and TLS together.
    public var connect: Double
    /// Given up under so many bytes a second...
    public var lowSpeed: Int64
    /// ...on average over so many seconds, not counting pauses. The wait for an answer counts.
    public var lowSpeedSeconds: Double
    /// Bytes that the system may hold for sending (SO_SNDBUF); nil for the system's own measure.
    public var sendBuffer: Int?

    public init(connect: Double = 30, lowSpeed: Int64 = 100, lowSpeedSeconds: Double = 60, sendBuffer: Int? = nil) {
        self.connect = connect
        self.lowSpeed = lowSpeed
        self.lowSpeedSeconds = lowSpeedSeconds
        self.sendBuffer = sendBuffer
    }
}

/// A field of a head. The names of received fields are in lower case.
public struct HeaderField: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
