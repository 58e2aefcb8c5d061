import KalijTransport

/// A single push, as a trial.
public struct PushTrial: Sendable {
    public let isTaken: Bool
    /// In words, for a person.
    public let text: String

    /// Sends one push as the server would, outside of all limits, and waits for the answer. Nothing is kept.
    /// - Parameters:
    ///   - path: of the `settings.json`.
    ///   - token: the device's, as a publish names it in its node.
    ///   - name: of the module; nil for the default module.
    /// - Throws: `SettingsError`, also if there is no such module, or if `token` is none of the module's.
    public static func run(
        _ path: String, token: String, module name: String?, loop: EventLoop
    ) throws(SettingsError) -> PushTrial {
        let settings = try Settings(file: path)
        guard let module = settings.moduleName(name), let found = settings.modules[module] else {
            throw SettingsError(
                "pushModules", name == nil ? "no module is the default module" : "there is no such module")
        }
        guard token.utf8.count <= settings.limits.tokenBytes, let form = found.tokenFormat.form(of: token) else {
            throw SettingsError("", "the node is no token of \(module)")
        }
        let providers = try PushServer.makeProviders(settings, loop) { _, _, _ in }
        defer { for provider in providers.values { provider.close() } }
        var verdict = Verdict.transient("no answer")
        providers[module]?.send(Delivery(id: 1, module: module, token: form, isBackground: false)) {
            verdict = $0
            loop.stop()
        }
        loop.run()
        return PushTrial(isTaken: verdict == .delivered, text: verdict.text)
    }
}

extension Verdict {
    fileprivate var text: String {
        switch self {
        case .delivered: "the push was taken"
        case .dead: "the device is gone"
        case .bad: "the token is not accepted"
        case .staleCredentials: "our credentials have expired"
        case .fault(let words), .unaccepted(let words): "the push was not accepted: \(words)"
        case .tooMany: "too many pushes"
        case .transient(let words): "no answer: \(words)"
        }
    }
}
