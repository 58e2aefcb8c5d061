import KalijAddress
import KalijCore

/// Registers a push service that the server notifies while the account has no connection (XEP-0357 section 5). Repeated in each new
/// session, until ``DisablePush`` or a logout. An account has one registration: another replaces it.
public struct EnablePush: Intent {
    public static let name = "push_enable"
    /// The address of the push service.
    public let service: String
    /// The node of the service; for most services the device's token.
    public let node: String
    /// The service's module for this application, a publish-option; nil for the service's default.
    public let module: String?
    /// A secret of the service, a publish-option; nil if the service requires none.
    public let secret: String?

    private static let maxLength = 2000

    /// - Parameters:
    ///   - service: the address of the push service.
    ///   - node: the node of the service; for most services the device's token.
    ///   - module: the service's module for this application; nil for the service's default.
    ///   - secret: a secret of the service; nil if the service requires none.
    public init(_ service: JID, node: String, module: String? = nil, secret: String? = nil) {
        (self.service, self.node, self.module, self.secret) = (service.description, node, module, secret)
    }

    public func check() throws {
        guard try JID(service).isPrepared else { throw IntentFailure("\(service) is no address") }
        for (what, text) in [("node", node), ("module", module), ("secret", secret)] {
            guard let text else { continue }
            guard (1...Self.maxLength).contains(text.utf8.count) else {
                throw IntentFailure("the \(what) has between 1 and \(Self.maxLength) bytes")
            }
            guard !text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
                throw IntentFailure("the \(what) has control characters")
            }
        }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        let target = PushTarget(service: service, node: node, module: module, secret: secret)
        return try requestPush(target, id, in: step)
    }
}

/// Disables push (XEP-0357 section 6).
public struct DisablePush: Intent {
    public static let name = "push_disable"

    /// Creates the intent.
    public init() {}

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        guard try PushRow.load(step.account.id, from: step.database) != nil else { return .done }
        return try requestPush(nil, id, in: step)
    }
}

/// The outcome is immediate only if no request to the server is required.
private func requestPush(_ target: PushTarget?, _ id: String, in step: Step) throws -> IntentOutcome {
    let isOnline = try SessionRow.isAvailable(step.account.id, in: step.database)
    try Push(step: step).handle(.requested(target, isOnline: isOnline), for: id)
    return try Intents.outcome(of: id, by: step.account, in: step.database) ?? .pending
}
