import Glibc
import KalijText

extension Settings {
    /// Settings that work and should be changed: secrets that everybody on the machine can read, figures that everybody on the
    /// network can read, no default module, and a database without its secret.
    /// - Parameter path: the settings file, which holds the component's key.
    func warnings(_ path: String) -> [String] {
        var warnings = secretFiles.compactMap { key, file in Self.warning(file, key) }.sorted()
        if let warning = Self.warning(path, "") { warnings.insert(warning, at: 0) }
        if let http, !http.isLoopback {
            warnings.append(
                "http.address: \(http.address) is not loopback: whoever reaches the machine can read metrics and health"
            )
        }
        if defaultModule == nil {
            warnings.append(
                "pushModules: no module has \"is_default_module\": true: publishes that name no module are refused")
        }
        // With a former secret configured, a missing file is a request for a new secret.
        if let database = state.database, let file = state.secretFile, state.previousSecretFile == nil,
            File.exists(database), !File.exists(file)
        {
            let loss = "without it the content of \(database) is of no use"
            warnings.append("state.secretFile: \(file) is missing; a new secret will be made, and \(loss)")
        }
        for server in nodes?.redis ?? [] where !server.isSecured && !server.hidesPassword {
            warnings.append(
                "nodes.redis: the password for \(server.label) goes over the network as it is: tls is false")
        }
        return warnings
    }

    /// Files with a secret, by key.
    private var secretFiles: [(key: String, file: String)] {
        var files: [(String, String)] = []
        for (name, module) in modules {
            switch module.provider {
            case .apns(let settings):
                switch settings.credentials {
                case .certificate(let file, _): files.append(("pushModules.\(name).apns.certFilePath", file))
                case .key(let file, _, _): files.append(("pushModules.\(name).apns.keyFilePath", file))
                }
            case .fcm(let settings): files.append(("pushModules.\(name).fcm.fcmSecretPath", settings.secretPath))
            case .webPush(let settings): files.append(("pushModules.\(name).webpush.keyFilePath", settings.keyPath))
            case .log: break
            }
        }
        if let file = state.secretFile { files.append(("state.secretFile", file)) }
        if let file = state.previousSecretFile { files.append(("state.previousSecretFile", file)) }
        guard let nodes else { return files }
        files.append(("nodes.secretFile", nodes.secretFile))
        for file in nodes.otherSecretFiles { files.append(("nodes.otherSecretFiles", file)) }
        for file in nodes.redis.compactMap(\.passwordFile) { files.append(("nodes.redis.passwordFile", file)) }
        return files
    }

    private static func warning(_ file: String, _ key: String) -> String? {
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IROTH != 0 else { return nil }
        return (key.isEmpty ? "" : key + ": ") + "everybody on this machine can read the secret in \(file)"
    }
}

extension RedisSettings {
    fileprivate var hidesPassword: Bool {
        passwordFile == nil || host == "localhost" || host == "::1" || host.begins(with: "127.")
    }
}

extension HTTPSettings {
    var isLoopback: Bool { address == "::1" || address.begins(with: "127.") }
}
