/// Each capability of a type, as the compiler knows it. A look-up of conformances at run time scans those of the whole program for each
/// pair of a type and a capability, a third of the start of a process.
///
/// A capability declares itself below, in an extension that the compiler prefers to the nil of a type without the capability. A feature
/// implements none of this.
public protocol CapabilityDeclaration: SendableMetatype {
    /// The type as a ``SessionObserver``; nil without the capability.
    static var asSessionObserver: (any SessionObserver.Type)? { get }
    /// The type as a ``StanzaInterceptor``; nil without the capability.
    static var asStanzaInterceptor: (any StanzaInterceptor.Type)? { get }
    /// The type as an ``AccountObserver``; nil without the capability.
    static var asAccountObserver: (any AccountObserver.Type)? { get }
    /// The type as an ``ArchiveObserver``; nil without the capability.
    static var asArchiveObserver: (any ArchiveObserver.Type)? { get }
    /// The type as a ``MessageProcessor``; nil without the capability.
    static var asMessageProcessor: (any MessageProcessor.Type)? { get }
    /// The type as a ``StoredMessageObserver``; nil without the capability.
    static var asStoredMessageObserver: (any StoredMessageObserver.Type)? { get }
    /// The type as a ``PresenceObserver``; nil without the capability.
    static var asPresenceObserver: (any PresenceObserver.Type)? { get }
    /// The type as a ``RequestResponder``; nil without the capability.
    static var asRequestResponder: (any RequestResponder.Type)? { get }
    /// The type as an ``OutgoingMessageInterceptor``; nil without the capability.
    static var asOutgoingMessageInterceptor: (any OutgoingMessageInterceptor.Type)? { get }
    /// The type as an ``OutgoingMessageDecorator``; nil without the capability.
    static var asOutgoingMessageDecorator: (any OutgoingMessageDecorator.Type)? { get }
    /// The type as a ``MessageRetainer``; nil without the capability.
    static var asMessageRetainer: (any MessageRetainer.Type)? { get }
    /// The type as a ``RoomProvider``; nil without the capability.
    static var asRoomProvider: (any RoomProvider.Type)? { get }
    /// The type as a ``BookmarkExtender``; nil without the capability.
    static var asBookmarkExtender: (any BookmarkExtender.Type)? { get }
    /// The type as a ``TransactionObserver``; nil without the capability.
    static var asTransactionObserver: (any TransactionObserver.Type)? { get }
    /// The type as a ``WorkReporter``; nil without the capability.
    static var asWorkReporter: (any WorkReporter.Type)? { get }
    /// The type as a `ServiceProvider`, a capability of the engine's own features.
    static var asServiceProvider: (any Feature.Type)? { get }
}

extension CapabilityDeclaration {
    public static var asSessionObserver: (any SessionObserver.Type)? { nil }
    public static var asStanzaInterceptor: (any StanzaInterceptor.Type)? { nil }
    public static var asAccountObserver: (any AccountObserver.Type)? { nil }
    public static var asArchiveObserver: (any ArchiveObserver.Type)? { nil }
    public static var asMessageProcessor: (any MessageProcessor.Type)? { nil }
    public static var asStoredMessageObserver: (any StoredMessageObserver.Type)? { nil }
    public static var asPresenceObserver: (any PresenceObserver.Type)? { nil }
    public static var asRequestResponder: (any RequestResponder.Type)? { nil }
    public static var asOutgoingMessageInterceptor: (any OutgoingMessageInterceptor.Type)? { nil }
    public static var asOutgoingMessageDecorator: (any OutgoingMessageDecorator.Type)? { nil }
    public static var asMessageRetainer: (any MessageRetainer.Type)? { nil }
    public static var asRoomProvider: (any RoomProvider.Type)? { nil }
    public static var asBookmarkExtender: (any BookmarkExtender.Type)? { nil }
    public static var asTransactionObserver: (any TransactionObserver.Type)? { nil }
    public static var asWorkReporter: (any WorkReporter.Type)? { nil }
    public static var asServiceProvider: (any Feature.Type)? { nil }
}

extension SessionObserver { public static var asSessionObserver: (any SessionObserver.Type)? { self } }
extension StanzaInterceptor { public static var asStanzaInterceptor: (any StanzaInterceptor.Type)? { self } }
extension AccountObserver { public static var asAccountObserver: (any AccountObserver.Type)? { self } }
extension ArchiveObserver { public static var asArchiveObserver: (any ArchiveObserver.Type)? { self } }
extension MessageProcessor { public static var asMessageProcessor: (any MessageProcessor.Type)? { self } }
extension StoredMessageObserver {
    public static var asStoredMessageObserver: (any StoredMessageObserver.Type)? { self }
}
extension PresenceObserver { public static var asPresenceObserver: (any PresenceObserver.Type)? { self } }
extension RequestResponder { public static var asRequestResponder: (any RequestResponder.Type)? { self } }
extension OutgoingMessageInterceptor {
    public static var asOutgoingMessageInterceptor: (any OutgoingMessageInterceptor.Type)? { self }
}
extension OutgoingMessageDecorator {
    public static var asOutgoingMessageDecorator: (any OutgoingMessageDecorator.Type)? { self }
}
extension MessageRetainer { public static var asMessageRetainer: (any MessageRetainer.Type)? { self } }
extension RoomProvider { public static var asRoomProvider: (any RoomProvider.Type)? { self } }
extension BookmarkExtender { public static var asBookmarkExtender: (any BookmarkExtender.Type)? { self } }
extension TransactionObserver { public static var asTransactionObserver: (any TransactionObserver.Type)? { self } }
extension WorkReporter { public static var asWorkReporter: (any WorkReporter.Type)? { self } }
extension ServiceProvider { package static var asServiceProvider: (any Feature.Type)? { self } }
