import KalijHandlers
import KalijStore
import KalijXML

/// The features of a process, and what follows from their list.
final class Features: Sendable {
    let all: [any Feature.Type]
    let registry: HandlerRegistry<Step>
    /// Whether this process is one that calls handlers; another one leaves that to it.
    let canCall: Bool
    /// What this client says of itself.
    let capabilities: OwnCapabilities

    /// The engine's own, and those of the application.
    /// - Throws: `HandlerError` `.duplicateName`
    init(_ application: [any Feature.Type] = []) throws(HandlerError) {
        all = Self.own + application
        registry = try HandlerRegistry(all.flatMap { $0.handlers })
        capabilities = OwnCapabilities(all)
        canCall = true
    }

    private init(calling none: Void) {
        all = Self.own
        registry = HandlerRegistry()
        capabilities = OwnCapabilities(all)
        canCall = false
    }

    /// Those of a process that does not drive.
    static let passive = Features(calling: ())

    /// The feature that owns a handler, by its name.
    func owner(of handler: String) -> (any Feature.Type)? {
        guard let end = handler.lastIndex(of: ".") else { return nil }
        return all.first { $0.handlerPrefix == handler[..<end] }
    }

    /// See ``Feature/outlivesSession(_:)``.
    func outlivesSession(_ stanza: Element) -> Bool { all.contains { $0.outlivesSession(stanza) } }
}
