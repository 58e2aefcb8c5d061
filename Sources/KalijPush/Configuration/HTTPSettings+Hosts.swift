import Glibc

extension HTTPSettings {
    /// Whether a request for `host`, the value of its field (RFC 9110, 7.2), is for these pages. A foreign page in a browser
    /// on this machine may resolve its own name to this address, and so read the responses: such a name is neither an address nor
    /// listed. A request without the field is from no browser.
    public func serves(host: String?) -> Bool {
        guard let host, let name = Self.name(of: Array(host.utf8)) else { return host == nil }
        var bytes = in6_addr()
        if inet_pton(AF_INET, name, &bytes) == 1 || inet_pton(AF_INET6, name, &bytes) == 1 { return true }
        return name == "localhost" || hosts.contains(name)
    }

    /// The host without brackets and port, in lower case; nil for bytes of no host.
    private static func name(of field: [UInt8]) -> String? {
        guard field.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        if field.first == UInt8(ascii: "[") {
            guard let end = field.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            return String(decoding: field[1..<end], as: UTF8.self)
        }
        return String(decoding: field.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
    }
}
