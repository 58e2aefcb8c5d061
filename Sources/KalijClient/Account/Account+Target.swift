import KalijAddress
import KalijTransport

extension ServerSettings {
    /// Where to connect for `domain`.
    func target(for domain: String) -> ConnectionTarget {
        ConnectionTarget(
            domain: domain, override: override.map { (host: $0.host, port: $0.port) },
            directTLS: directTLS ? .only : override == nil ? .preferred : .never)
    }

    /// How to trust whoever answers for `domain`: the certificate must name the account's domain (RFC 6120 13.7.2).
    func tls(for domain: String) -> TLSSettings { TLSSettings(caFile: caFile, serverName: domain) }
}

extension Account {
    var target: ConnectionTarget { server.target(for: jid.domain) }
    var tls: TLSSettings { server.tls(for: jid.domain) }
}
