import CIDN
import KalijText

extension JID {
    /// The domain in the form of DNS and certificates (RFC 3490, ToASCII): `xn--` for labels that are not ASCII.
    ///
    /// Addresses of the Internet are returned without brackets. Nil, if the domain cannot be a name of DNS: a label of
    /// over 63 bytes, or an address that is not prepared.
    public var dnsName: String? {
        guard isPrepared else { return nil }
        let domain = domain
        if domain.utf8.first == UInt8(ascii: "[") { return String(domain.dropFirst().dropLast()) }
        var labels: [String] = []
        for label in domain.words(at: ".") {
            var output: UnsafeMutablePointer<CChar>?
            // libidn allocates `output`; the caller frees the memory.
            let code = idna_to_ascii_8z(label, &output, Int32(IDNA_ALLOW_UNASSIGNED.rawValue))
            defer { free(output) }
            guard code == 0, let output else { return nil }
            labels.append(String(cString: output))
        }
        return labels.joined(separator: ".")
    }
}
