import KalijTransport

extension PushServer {
    /// The providers of all modules.
    /// - Parameter notice: takes lines about connections, and the lines of modules of type `log`.
    /// - Throws: `SettingsError` with all modules' files and keys that are unusable.
    static func makeProviders(
        _ settings: Settings, _ loop: EventLoop, _ notice: @escaping (LinePriority, String, String) -> Void
    ) throws(SettingsError) -> [String: any PushProvider] {
        var providers: [String: any PushProvider] = [:]
        let errors = SettingsErrors()
        for (name, module) in settings.modules.sorted(by: { $0.key < $1.key }) {
            do throws(SettingsError) {
                providers[name] = try makeProvider(name, module, loop) {
                    notice($0, "\(name): \($1)", "connections of \(name)")
                }
            } catch {
                errors.record(error)
            }
        }
        do {
            try errors.check()
        } catch {
            for provider in providers.values { provider.close() }
            throw error
        }
        return providers
    }

    private static func makeProvider(
        _ name: String, _ module: ModuleSettings, _ loop: EventLoop, _ notice: @escaping (LinePriority, String) -> Void
    ) throws(SettingsError) -> any PushProvider {
        let path = "pushModules.\(name)"
        try check(module.provider.endpoint?.caFile, path + ".\(module.provider.key).endpoint.caFile")
        switch module.provider {
        case .log: return LogProvider(loop: loop) { notice(.debug, $0) }
        case .apns(let settings):
            return try APNsProvider(loop: loop, settings: settings, key: path + ".apns") { notice(.notice, $0) }
        case .webPush(let settings):
            for (index, service) in settings.ownServices.enumerated() {
                try check(service.caFile, path + ".webpush.ownServices[\(index)].caFile")
            }
            return try WebPushProvider(loop: loop, settings: settings, key: path + ".webpush") { notice(.alarm, $0) }
        case .fcm(let settings):
            return try FCMProvider(loop: loop, settings: settings, key: path + ".fcm") { notice(.notice, $0) }
        }
    }

    private static func check(_ caFile: String?, _ key: String) throws(SettingsError) {
        guard let caFile, let fault = TLSSettings(serverName: "", caFile: caFile).fault else { return }
        throw SettingsError(key, fault)
    }
}

extension ModuleSettings.Provider {
    fileprivate var key: String {
        switch self {
        case .apns: "apns"
        case .fcm: "fcm"
        case .webPush: "webpush"
        case .log: "log"
        }
    }

    fileprivate var endpoint: EndpointSettings? {
        switch self {
        case .apns(let settings): settings.endpoint
        case .fcm(let settings): settings.endpoint
        case .webPush, .log: nil
        }
    }
}
