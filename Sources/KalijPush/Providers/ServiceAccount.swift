import KalijHTTP

import FoundationEssentials

/// A service account's file: the credentials for Google.
struct ServiceAccount {
    let project: String
    let email: String
    let keyID: String?
    let key: SigningKey
    /// The address that gives out access tokens, and the audience of an assertion.
    let tokenURI: String
    let tokenOrigin: HTTPOrigin
    let tokenPath: String

    /// - Throws: `SettingsError` with the key of the file.
    init(file: String, key path: String) throws(SettingsError) {
        guard let value = try? JSONValue.parse(try File.read(file, key: path)) else {
            // Throws the reason, if reading was the fault.
            _ = try File.read(file, key: path)
            throw SettingsError(path, "\(file) is no JSON")
        }
        func text(_ name: String) throws(SettingsError) -> String {
            guard let text = value[name]?.text, !text.isEmpty else {
                throw SettingsError(path, "\(file) has no \"\(name)\"")
            }
            return text
        }
        project = try text("project_id")
        guard project.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else {
            throw SettingsError(path, "\(file): \"project_id\" is no name of a project")
        }
        email = try text("client_email")
        keyID = value["private_key_id"]?.text
        tokenURI = value["token_uri"]?.text ?? "https://oauth2.googleapis.com/token"
        guard let url = URL(string: tokenURI), url.scheme == "https", let host = url.host() else {
            throw SettingsError(path, "\(file): \"token_uri\" is no https address")
        }
        tokenOrigin = HTTPOrigin(host: host, port: UInt16(clamping: url.port ?? 443))
        tokenPath = url.path().isEmpty ? "/" : url.path()
        do {
            key = try SigningKey(pem: Array(try text("private_key").utf8))
        } catch {
            throw SettingsError(path, "\(file): \"private_key\": \(error)")
        }
        guard key.algorithm == .rs256 else {
            throw SettingsError(path, "\(file): \"private_key\": Google wants an RSA key; this is a P-256 key")
        }
    }
}
