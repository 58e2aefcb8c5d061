extension ModuleSettings {
    /// Everything that decides which tokens a provider accepts from this server: credentials, app and endpoint. To be hashed.
    ///
    /// - Parameter path: of the module, as in "pushModules.monal".
    /// - Throws: `SettingsError` if a file cannot be read.
    func identity(_ path: String) throws(SettingsError) -> [UInt8] {
        switch provider {
        case .log: return Array("log".utf8)
        case .apns(let settings):
            var words = ["apns", settings.topic, settings.isSandbox ? "sandbox" : "production"]
            if let endpoint = settings.endpoint { words += [endpoint.host, "\(endpoint.port)"] }
            switch settings.credentials {
            case .certificate(let file, _):
                return Self.join(words, try File.read(file, key: path + ".apns.certFilePath"))
            case .key(let file, let keyID, let teamID):
                return Self.join(words + [keyID, teamID], try File.read(file, key: path + ".apns.keyFilePath"))
            }
        case .webPush(let settings):
            // Another key is another sender: endpoints are bound to the key.
            return Self.join(["webpush"], try File.read(settings.keyPath, key: path + ".webpush.keyFilePath"))
        case .fcm(let settings):
            var words = ["fcm"]
            if let endpoint = settings.endpoint { words += [endpoint.host, "\(endpoint.port)"] }
            return Self.join(words, try File.read(settings.secretPath, key: path + ".fcm.fcmSecretPath"))
        }
    }

    private static func join(_ words: [String], _ file: [UInt8]) -> [UInt8] {
        words.flatMap { Array($0.utf8) + [0] } + file
    }
}
