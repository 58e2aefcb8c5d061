/// A host and port to try, and whether TLS begins with the first byte there.
struct Route: Equatable {
    var host: String
    var port: UInt16
    var directTLS: Bool

    /// The DNS answer to a query for services.
    typealias Services = Result<[ServiceRecord], DNSError>

    /// The routes for a domain, in order (RFC 6120 3.2.1 and 3.2.2, XEP-0368 3 and 5).
    ///
    /// - Parameters:
    ///   - domain: the XMPP domain.
    ///   - starttls: the records of `_xmpp-client`; nil if not queried.
    ///   - direct: the records of `_xmpps-client`; nil if not queried.
    ///   - generator: draws among records of the same priority.
    /// - Returns: the routes; empty if the domain does not offer the service.
    static func plan(
        domain: String, starttls: Services?, direct: Services?, using generator: inout some RandomNumberGenerator
    ) -> [Route] {
        var records = (try? starttls?.get()) ?? []
        records += ((try? direct?.get()) ?? []).map { record in
            var record = record
            record.directTLS = true
            return record
        }
        // Without records, or without an answer, the domain itself is the host. The certificate shows whether that is
        // right.
        if records.isEmpty { return [fallback(domain, directTLS: starttls == nil)] }
        // RFC 2782: a target of "." means that the service is decidedly not available; no falling back then.
        let offered = records.filter { !$0.host.isEmpty && $0.host != "." }
        return ServiceRecord.ordered(offered, using: &generator)
            .map { Route(host: $0.host, port: $0.port, directTLS: $0.directTLS) }
    }

    static func fallback(_ host: String, directTLS: Bool) -> Route {
        Route(host: host, port: directTLS ? 5223 : 5222, directTLS: directTLS)
    }
}
