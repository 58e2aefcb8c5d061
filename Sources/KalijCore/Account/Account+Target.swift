import KalijAddress
import KalijTransport

extension ServerSettings {
    /// The server to connect to for `jid`.
    package func target(for jid: JID) -> ConnectionTarget {
        ConnectionTarget(
            domain: jid.dnsName ?? jid.domain, override: override.map { (host: $0.host, port: $0.port) },
            directTLS: directTLS ? .only : override == nil ? .preferred : .never)
    }

    /// How the server of `jid` is trusted: the certificate must name the account's domain (RFC 6120 13.7.2).
    package func tls(for jid: JID) -> TLSSettings { TLSSettings(serverName: jid.dnsName ?? jid.domain, caFile: caFile) }
}

extension Account {
    package var target: ConnectionTarget { server.target(for: jid) }
    package var tls: TLSSettings { server.tls(for: jid) }
}
