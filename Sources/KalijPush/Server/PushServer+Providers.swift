import KalijTransport

extension PushServer {
    /// The providers of all modules.
    /// - Parameter notice: takes lines about connections, and the lines of modules of type `log`.
    /// - Throws: `SettingsError` if a module's files or keys are of no use.
    static func makeProviders(
        _ settings: Settings, _ loop: EventLoop, _ notice: @escaping (LinePriority, String, String) -> Void
    ) throws(SettingsError) -> [String: any PushProvider] {
        var providers: [String: any PushProvider] = [:]
        for (name, module) in settings.modules {
            providers[name] = try makeProvider(name, module, loop) {
                notice($0, "\(name): \($1)", "connections of \(name)")
            }
        }
        return providers
    }

    private static func makeProvider(
        _ name: String, _ module: ModuleSettings, _ loop: EventLoop, _ notice: @escaping (LinePriority, String) -> Void
    ) throws(SettingsError) -> any PushProvider {
        let path = "pushModules.\(name)"
        switch module.provider {
        case .log: return LogProvider(loop: loop) { notice(.debug, $0) }
        case .apns(let settings):
            return try APNsProvider(loop: loop, settings: settings, key: path + ".apns") { notice(.notice, $0) }
        case .fcm(let settings):
            return try FCMProvider(loop: loop, settings: settings, key: path + ".fcm") { notice(.notice, $0) }
        }
    }
}
