/// Whether TLS may begin with the first byte (XEP-0368).
public enum DirectTLS: Sendable, Hashable {
    /// Only STARTTLS: `_xmpp-client` records, port 5222.
    case never
    /// Only direct TLS: `_xmpps-client` records; without any, port 5223.
    case only
    /// Both kinds of records, in the order of their priorities, and direct TLS first within a priority; without any,
    /// STARTTLS on port 5222.
    /// With an override, STARTTLS: nothing indicates that the port begins with TLS.
    case preferred
}

/// The addresses that may be connected to. The check applies to the address that the socket connects to, so that a name whose
/// addresses change between two look-ups cannot bypass it.
public enum AllowedAddresses: Sendable, Equatable {
    case all
    /// Of the public Internet (``AddressRule``), for a name that a stranger has chosen.
    case publicOnes
}

/// The target of a connection.
public struct ConnectionTarget: Sendable {
    /// The XMPP domain in ASCII, or an address.
    public var domain: String
    /// A host and port to connect to, instead of the DNS answer for the domain.
    public var override: (host: String, port: UInt16)?
    public var directTLS: DirectTLS
    /// The address that worked last: tried at once, while the DNS is queried. The DNS's answers join the race when this address
    /// has failed, or has not answered within the stagger. Not used where `override` or `directTLS` no longer permit the address.
    public var remembered: Endpoint?
    /// The addresses that the connection is restricted to, independent of the DNS answers.
    public var addresses: AllowedAddresses

    public init(
        domain: String, override: (host: String, port: UInt16)? = nil, directTLS: DirectTLS = .preferred,
        remembered: Endpoint? = nil, addresses: AllowedAddresses = .all
    ) {
        self.domain = domain
        self.override = override
        self.directTLS = directTLS
        self.remembered = remembered
        self.addresses = addresses
    }
}

/// The address reached by a connection.
public struct Endpoint: Sendable, Equatable, CustomStringConvertible {
    /// The resolved name: the SRV target, the override or the domain.
    public let host: String
    /// The address in numbers.
    public let address: String
    public let port: UInt16
    /// Whether TLS began with the first byte.
    public let directTLS: Bool

    public init(host: String, address: String, port: UInt16, directTLS: Bool) {
        self.host = host
        self.address = address
        self.port = port
        self.directTLS = directTLS
    }

    /// "127.0.0.1:5222", "[::1]:5222".
    public var description: String { Endpoint.text(address, port) }

    static func text(_ address: String, _ port: UInt16) -> String {
        address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

/// How long a connection waits, in seconds. An attempt given up can be repeated.
public struct ConnectionLimits: Sendable {
    /// For an answer of the DNS.
    public var names = 20.0
    /// For a TCP connection.
    public var tcp = 10.0
    /// For the next bytes of a TLS handshake: a slow link may take longer for all of them.
    public var tls = 15.0
    /// For a whole TLS handshake, so that a peer that sends a byte at a time cannot prolong it without end.
    public var wholeTLS = 60.0
    /// Before the next address is tried beside an address that has not answered (RFC 8305 5).
    public var stagger = 0.25
    /// For IPv6 addresses when the IPv4 addresses have arrived (RFC 8305 3).
    public var resolution = 0.05
    /// For writing the queued bytes, and for the peer to respond, when a connection is closed. A process that has to release the
    /// fence has a second foreverything, even on a busy machine.
    public var closing = 0.5
    /// How many hosts of a domain, and addresses of a host, are tried: DNS answers must not prolong the attempt for hours.
    public var alternatives = 16

    public init() {}
}
