import KalijHTTP

extension SigningKey {
    /// Reads a P-256 key in PEM form.
    /// - Parameters:
    ///   - key: the key of the file in the settings.
    ///   - wanted: the error text for an RSA key.
    /// - Throws: `SettingsError` with the key and the reason.
    static func es256(inFile file: String, key: String, wanted: String) throws(SettingsError) -> SigningKey {
        let bytes = try File.read(file, key: key)
        let read: SigningKey
        do throws(SigningKey.Problem) {
            read = try SigningKey(pem: bytes)
        } catch {
            throw SettingsError(key, "\(file): \(error)")
        }
        guard read.algorithm == .es256 else {
            throw SettingsError(key, "\(file): \(wanted); this is an RSA key")
        }
        return read
    }
}
