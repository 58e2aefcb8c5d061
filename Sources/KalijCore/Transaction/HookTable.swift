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
        sessionObservers = features.compactMap { $0.asSessionObserver }
        stanzaInterceptors = features.compactMap { $0.asStanzaInterceptor }
        accountObservers = features.compactMap { $0.asAccountObserver }
        archiveObservers = features.compactMap { $0.asArchiveObserver }
        messageProcessors = features.compactMap { $0.asMessageProcessor }
        storedMessageObservers = features.compactMap { $0.asStoredMessageObserver }
        presenceObservers = features.compactMap { $0.asPresenceObserver }
        requestResponders = features.compactMap { $0.asRequestResponder }
        outgoingMessageInterceptors = features.compactMap { $0.asOutgoingMessageInterceptor }
        outgoingMessageDecorators = features.compactMap { $0.asOutgoingMessageDecorator }
        messageRetainers = features.compactMap { $0.asMessageRetainer }
        roomProviders = features.compactMap { $0.asRoomProvider }
        bookmarkExtenders = features.compactMap { $0.asBookmarkExtender }
        transactionObservers = features.compactMap { $0.asTransactionObserver }
        workReporters = features.compactMap { $0.asWorkReporter }
        serviceProviders = features.compactMap { $0.asServiceProvider as? any ServiceProvider.Type }
    }
}
