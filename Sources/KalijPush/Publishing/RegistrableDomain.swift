import CPSL
import Glibc
import KalijText

/// The part of a domain's name that somebody has registered: `example.org` of `xmpp.example.org`.
///
/// An owner of a domain can make any name below, so that all names of one owner share the limits. The list of suffixes
/// under which anybody can register (publicsuffix.org) is libpsl's.
enum RegistrableDomain {
    /// - Parameter domain: a name in lower case, or an address.
    /// - Returns: the name itself if nobody can have registered a part of the name. What costs nothing has one owner:
    ///   addresses, of which a single network has more than all limits, and names made of a key.
    static func of(_ domain: String) -> String {
        if isAddress(domain) { return "address" }
        for kind in [".onion", ".i2p"] where domain.ends(with: kind) { return kind }
        // The list is a constant of the library, and the result points into the name given.
        guard let list = psl_builtin(), !domain.utf8.contains(0) else { return domain }
        return domain.withCString { name in
            psl_registrable_domain(list, name).map { String(cString: $0) } ?? domain
        }
    }

    private static func isAddress(_ domain: String) -> Bool {
        var bytes = in6_addr()
        return domain.begins(with: "[") || domain.utf8.contains(UInt8(ascii: ":"))
            || inet_pton(AF_INET, domain, &bytes) == 1
    }
}
