import COpenSSL

/// SHA-256 in hexadecimal digits.
func sum(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    SHA256(bytes, bytes.count, &digest)
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
