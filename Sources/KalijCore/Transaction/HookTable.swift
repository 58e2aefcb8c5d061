/// The features with each capability, in the order of their list; nothing else loops over features to call them.
package final class HookTable: Sendable {
    package let sessionObservers: [any SessionObserver.Type]
    package let stanzaInterceptors: [any StanzaInterceptor.Type]
    package let accountObservers: [any AccountObserver.Type]
    package let archiveObservers: [any ArchiveObserver.Type]
    package let messageProcessors: [any MessageProcessor.Type]
    package let storedMessageObservers: [any StoredMessageObserver.Type]
    package let presenceObservers: [any PresenceObserver.Type]
    package let requestResponders: [any RequestResponder.Type]
    package let outgoingMessageInterceptors: [any OutgoingMessageInterceptor.Type]
    package let outgoingMessageDecorators: [any OutgoingMessageDecorator.Type]
    package let messageRetainers: [any MessageRetainer.Type]
    package let roomProviders: [any RoomProvider.Type]
    package let bookmarkExtenders: [any BookmarkExtender.Type]
    package let transactionObservers: [any TransactionObserver.Type]
    package let workReporters: [any WorkReporter.Type]
    package let serviceProviders: [any ServiceProvider.Type]

    package init(_ features: [any Feature.Type]) {
        sessionObservers = features.compactMap { $0 as? any SessionObserver.Type }
        stanzaInterceptors = features.compactMap { $0 as? any StanzaInterceptor.Type }
        accountObservers = features.compactMap { $0 as? any AccountObserver.Type }
        archiveObservers = features.compactMap { $0 as? any ArchiveObserver.Type }
        messageProcessors = features.compactMap { $0 as? any MessageProcessor.Type }
        storedMessageObservers = features.compactMap { $0 as? any StoredMessageObserver.Type }
        presenceObservers = features.compactMap { $0 as? any PresenceObserver.Type }
        requestResponders = features.compactMap { $0 as? any RequestResponder.Type }
        outgoingMessageInterceptors = features.compactMap { $0 as? any OutgoingMessageInterceptor.Type }
        outgoingMessageDecorators = features.compactMap { $0 as? any OutgoingMessageDecorator.Type }
        messageRetainers = features.compactMap { $0 as? any MessageRetainer.Type }
        roomProviders = features.compactMap { $0 as? any RoomProvider.Type }
        bookmarkExtenders = features.compactMap { $0 as? any BookmarkExtender.Type }
        transactionObservers = features.compactMap { $0 as? any TransactionObserver.Type }
        workReporters = features.compactMap { $0 as? any WorkReporter.Type }
        serviceProviders = features.compactMap { $0 as? any ServiceProvider.Type }
    }
}
