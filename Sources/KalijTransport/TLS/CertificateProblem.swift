import COpenSSL
import Glibc
import KalijText

/// Why a server's certificate was not accepted, in words for a person.
struct CertificateProblem {
    let reason: String
    let kind: ConnectFailure.Kind
    /// The SHA-256 of the server's own certificate.
    let fingerprint: [UInt8]?

    /// Reads OpenSSL's result during verification. The pointers are OpenSSL's and lent for the call.
    init(verifying context: OpaquePointer, serverName: String) {
        let leaf = X509_STORE_CTX_get0_cert(context)
        let faulty = X509_STORE_CTX_get_current_cert(context)
        let which = faulty == leaf ? "certificate" : "a certificate of the chain"
        let code = X509_STORE_CTX_get_error(context)
        fingerprint = leaf.flatMap(Self.fingerprint)
        switch code {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            kind = .untrusted
        default: kind = .certificate
        }
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            reason = "\(which) has expired" + Self.day(faulty.flatMap(X509_get0_notAfter), " (", ")")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            reason = "\(which) is not yet valid" + Self.day(faulty.flatMap(X509_get0_notBefore), " (from ", ")")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            reason = "certificate is self-signed"
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            let issuer = (faulty ?? leaf).flatMap(X509_get_issuer_name).flatMap(Self.commonName)
            reason = "certificate is from an unknown issuer" + (issuer.map { " (\($0))" } ?? "")
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            let names = leaf.map(Self.names) ?? []
            let list = names.isEmpty ? "no host name" : names.joined(separator: ", ")
            reason = "certificate is for \(list), not for \(serverName)"
        default:
            reason = "certificate: " + String(cString: X509_verify_cert_error_string(Int(code)))
        }
    }

    private static func fingerprint(of certificate: OpaquePointer) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, EVP_sha256(), &bytes, &count) == 1 else { return nil }
        return Array(bytes.prefix(Int(count)))
    }

    /// The first ten host names and addresses of a certificate (subjectAltName; the common name does not count).
    private static func names(of certificate: OpaquePointer) -> [String] {
        guard let list = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil).map(OpaquePointer.init) else {
            return []
        }
        defer { GENERAL_NAMES_free(list) }
        let count = OPENSSL_sk_num(list)
        var names: [String] = []
        for index in 0..<min(max(0, count), 10) {
            // The stack owns its GENERAL_NAMEs until the stack is freed.
            guard let name = OPENSSL_sk_value(list, index)?.assumingMemoryBound(to: GENERAL_NAME.self) else { continue }
            switch name.pointee.type {
            case GEN_DNS: name.pointee.d.dNSName.map { names.append(printable(bytes(of: $0))) }
            case GEN_IPADD: name.pointee.d.iPAddress.flatMap { address(bytes(of: $0)) }.map { names.append($0) }
            default: continue
            }
        }
        return count > 10 ? names + ["..."] : names
    }

    private static func commonName(of name: OpaquePointer) -> String? {
        let position = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        guard position >= 0, let entry = X509_NAME_get_entry(name, position),
            let value = X509_NAME_ENTRY_get_data(entry)
        else { return nil }
        return printable(bytes(of: value))
    }

    /// A day as 2021-01-01, between two strings; nothing if there is none.
    private static func day(_ time: UnsafePointer<ASN1_TIME>?, _ before: String, _ after: String) -> String {
        var fields = tm()
        guard let time, ASN1_TIME_to_tm(time, &fields) == 1 else { return "" }
        func padded(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        return "\(before)\(fields.tm_year + 1900)-\(padded(fields.tm_mon + 1))-\(padded(fields.tm_mday))\(after)"
    }

    private static func bytes(of string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        guard let start = ASN1_STRING_get0_data(string) else { return [] }
        // OpenSSL guarantees as many bytes as the length of the string.
        return Array(UnsafeBufferPointer(start: start, count: max(0, Int(ASN1_STRING_length(string)))))
    }

    /// A stranger chose these bytes: no byte may steer a terminal or fill the screen.
    private static func printable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix(100), as: UTF8.self).cleaned(for: .field)
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        SocketAddress.text(of: bytes)
    }
}
