import KalijHandlers
import KalijCore
import KalijStore

extension Features {
    /// All features of the engine: a new feature requires a folder and a line here. Migrations run in this order.
    package static let own: [any Feature.Type] = [
        WaitingFeature.self,
        EventsFeature.self,
        MessagesFeature.self,
        ContactsFeature.self,
        BlockingFeature.self,
        DiscoveryFeature.self,
        CarbonsFeature.self,
        HistoryFeature.self,
        PingFeature.self,
        SettingsFeature.self,
        NodesFeature.self,
        ProfilesFeature.self,
        EncryptionFeature.self,
        PushFeature.self,
        RoomsFeature.self,
        FilesFeature.self,
        OMEMOFeature.self,
        OperationsFeature.self,
        ResendingFeature.self,
        ReceiptsFeature.self,
        TypingFeature.self,
        NotificationsFeature.self,
        NotificationSettingsFeature.self,
        ReadingFeature.self,
        QuarantineFeature.self,
        QuestionsFeature.self,
        SharingFeature.self,
        SearchFeature.self,
        RegistrationFeature.self,
    ]

    /// The features in a process that does not drive.
    package static let passive = Features(passive: own)

    /// The engine's features and an application's features.
    /// - Throws: `FeatureError`; `HandlerError` `.duplicateName`
    package convenience init(_ application: [any Feature.Type] = []) throws {
        try FeatureError.check(application, besides: Self.own)
        try self.init(all: Self.own + application)
    }
}
