import KalijHandlers
import KalijSteps
import KalijStore

extension Features {
    /// All features of the engine: adding one is a folder and a line here. Their migrations are made in this order.
    package static let own: [any Feature.Type] = [
        WaitingFeature.self,
        EventsFeature.self,
        MessagesFeature.self,
        ContactsFeature.self,
        DiscoveryFeature.self,
        CarbonsFeature.self,
        HistoryFeature.self,
        PingFeature.self,
        NotificationsFeature.self,
        QuarantineFeature.self,
        QuestionsFeature.self,
        SharingFeature.self,
    ]

    /// Those of a process that does not drive.
    package static let passive = Features(passive: own)

    /// The engine's own, and those of an application.
    /// - Throws: `HandlerError` `.duplicateName`
    package convenience init(_ application: [any Feature.Type] = []) throws(HandlerError) {
        try self.init(all: Self.own + application)
    }
}
