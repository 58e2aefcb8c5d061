import KalijHandlers
import KalijStore
import KalijXML

/// The features of a process, and everything derived from their list.
package final class Features: Sendable {
    package let all: [any Feature.Type]
    package let hooks: HookTable
    package let registry: HandlerRegistry<Step>
    /// Whether this process calls handlers; other processes leave the calls to the driver.
    package let canCall: Bool
    /// The announced features of this client.
    package let capabilities: OwnCapabilities
    private let passiveOnes: Features?

    /// - Throws: `HandlerError` `.duplicateName`
    package init(all: [any Feature.Type]) throws(HandlerError) {
        self.all = all
        hooks = HookTable(all)
        registry = try HandlerRegistry(all.flatMap { $0.handlers })
        capabilities = OwnCapabilities(all)
        canCall = true
        passiveOnes = Features(passive: all)
    }

    /// The features in a process that does not drive.
    package init(passive all: [any Feature.Type]) {
        self.all = all
        hooks = HookTable(all)
        registry = HandlerRegistry()
        capabilities = OwnCapabilities(all)
        canCall = false
        passiveOnes = nil
    }

    /// The same, for what is accepted beside the steps of the driver.
    package var passive: Features { passiveOnes ?? self }

    /// The feature that owns a handler, by its name.
    package func owner(of handler: String) -> (any Feature.Type)? {
        guard let end = handler.lastIndex(of: ".") else { return nil }
        return all.first { $0.handlerPrefix == handler[..<end] }
    }

    /// All possible events.
    package var events: [any EventContent.Type] { SessionEvents.all + all.flatMap { $0.events } }

    /// The intents of all features.
    package var intents: [any Intent.Type] { all.flatMap { $0.intents } }
}
