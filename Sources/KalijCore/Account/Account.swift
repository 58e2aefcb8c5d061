import KalijAddress
import KalijStream
import KalijText

/// A stored XMPP identity.
public struct Account: Sendable {
    /// The row's number.
    public let id: Int64
    /// The bare address.
    public let jid: JID
    /// The resource requested at each bind.
    public let resource: String
    /// How the server is reached and trusted.
    public let server: ServerSettings
    /// What a login has used, and no later login falls below.
    public let pins: DowngradePins
    package let credentials: Credentials
    /// Whether the account is in use.
    public let state: State
    /// How many days the first reading of the archive looks back.
    public package(set) var historyDays: Int64

    /// The use of an account.
    public enum State: String, Sendable {
        /// In use.
        case active
        /// To be logged out by the driver.
        case leaving
        /// To be removed by the driver.
        case removing
        /// Logged out: the messages are kept, the credentials were deleted.
        case out

        package var isToLogOut: Bool { self == .leaving || self == .removing }
    }
}

/// How a server is reached and trusted.
public struct ServerSettings: Sendable, Equatable {
    /// A host and port that replace the domain's SRV records.
    public var override: HostAndPort?
    /// TLS from the first byte (XEP-0368) on the given host and port, instead of STARTTLS.
    public var directTLS: Bool
    /// A file of the certificate authorities to trust (PEM), instead of the system's.
    public var caFile: String?

    /// The default: SRV records, STARTTLS, and the system's certificate authorities.
    public init(override: HostAndPort? = nil, directTLS: Bool = false, caFile: String? = nil) {
        self.override = override
        self.directTLS = directTLS
        self.caFile = caFile
    }
}

/// A host name or address and a port, written `HOST:PORT`, an IPv6 address in brackets.
public struct HostAndPort: Sendable, Equatable, CustomStringConvertible {
    /// The name or address; an IPv6 address without brackets.
    public let host: String
    /// From 1 to 65535.
    public let port: UInt16

    /// Reads `HOST:PORT`; nil for any other text.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        var host = text[..<colon]
        if host.begins(with: "["), host.ends(with: "]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = port
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
