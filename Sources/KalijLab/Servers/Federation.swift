import Glibc

/// A server's part in a federation.
struct FederationMember: Sendable {
    let domain: String
    /// The loopback address for other servers.
    let address: String
    /// The addresses of the other servers, by the domains of the servers and of their rooms.
    let names: [String: String]
    /// Signs the certificates of all members.
    let authority: Certificate
}

/// Servers with links between them. Each server has a loopback address, and a certificate of a common authority.
///
/// Each path from one server to another leads through a ``ServerLink``, which can be cut. No server queries the DNS.
public final class Federation: Sendable {
    /// By domain.
    public let servers: [String: any XMPPServer]
    private let links: [Route: ServerLink]

    private struct Route: Hashable {
        let from: String
        let to: String
    }

    /// Starts servers, each with users with the password "secret".
    /// - Throws: ``LaboratoryError`` if a server does not start.
    public init(
        _ kinds: [String: ServerKind], users: [String: [String]], in laboratory: Laboratory
    ) async throws {
        let domains = kinds.keys.sorted()
        let (network, links) = try Self.network(domains)
        self.links = links.mapValues { $0.link }
        let authority = try await Certificate.authority(in: laboratory.path("authority"), laboratory: laboratory)
        servers = try await withThrowingTaskGroup(of: (String, any XMPPServer).self) { group in
            for (domain, kind) in kinds {
                var names: [String: String] = [:]
                for (route, way) in links where route.from == domain {
                    names[route.to] = "\(way.address)"
                    names["conference." + route.to] = "\(way.address)"
                }
                let address = "\(network[domain] ?? .usual)"
                var options = ServerOptions()
                options.member = FederationMember(
                    domain: domain, address: address, names: names, authority: authority)
                let members = users[domain] ?? []
                group.addTask { [options] in
                    (domain, try await startedServer(kind, in: laboratory, options: options, users: members))
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// The server of a domain.
    public func server(_ domain: String) throws -> any XMPPServer {
        guard let server = servers[domain] else { throw LaboratoryError("no server of the federation has \(domain)") }
        return server
    }

    /// The path from one server to another.
    public func link(from: String, to: String) throws -> ServerLink {
        guard let link = links[Route(from: from, to: to)] else {
            throw LaboratoryError("the federation has no way from \(from) to \(to)")
        }
        return link
    }

    /// All paths.
    public var allLinks: [ServerLink] { Array(links.values) }

    /// Ends all servers and links.
    public func stop() async {
        await withTaskGroup(of: Void.self) { group in
            for server in servers.values { group.addTask { await server.stop() } }
        }
        for link in links.values { link.stop() }
    }

    /// A network of 256 loopback addresses that nobody uses: several federations may run at once.
    private static func network(
        _ domains: [String]
    ) throws -> (servers: [String: LoopbackAddress], links: [Route: (address: LoopbackAddress, link: ServerLink)]) {
        for _ in 0..<20 {
            let (second, third) = (UInt8.random(in: 16...240), UInt8.random(in: 0...255))
            func address(_ fourth: Int) -> LoopbackAddress {
                LoopbackAddress(second, third, UInt8(truncatingIfNeeded: fourth))
            }
            var servers: [String: LoopbackAddress] = [:]
            for (index, domain) in domains.enumerated() { servers[domain] = address(2 + index) }
            var links: [Route: (address: LoopbackAddress, link: ServerLink)] = [:]
            do {
                for (from, domain) in domains.enumerated() {
                    for (to, other) in domains.enumerated() where to != from {
                        let own = address(100 + 10 * from + to)
                        let link = try ServerLink(at: own, to: address(2 + to))
                        links[Route(from: domain, to: other)] = (own, link)
                    }
                }
                return (servers, links)
            } catch { for way in links.values { way.link.stop() } }
        }
        throw LaboratoryError("found no free network of loopback addresses")
    }
}
