extension ConnectionTarget {
    /// The remembered address and its route; nil where the target no longer permits them, or where there is no DNS to wait for.
    var rememberedRoute: (route: Route, address: SocketAddress)? {
        guard let remembered, !SocketAddress.isLiteral(override?.host ?? domain),
            let address = SocketAddress(literal: remembered.address, port: remembered.port)
        else { return nil }
        let route = Route(host: remembered.host, port: remembered.port, directTLS: remembered.directTLS)
        let isAllowed =
            if let overridden { route == overridden } else {
                directTLS == .preferred || route.directTLS == (directTLS == .only)
            }
        return isAllowed ? (route, address) : nil
    }

    /// The route of the override.
    var overridden: Route? {
        override.map { Route(host: $0.host, port: $0.port, directTLS: directTLS == .only) }
    }
}
