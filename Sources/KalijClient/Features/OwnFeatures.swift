import KalijStore

extension Features {
    /// All features of the engine: adding one is a folder and a line here. Their migrations are made in this order.
    static let own: [any Feature.Type] = [
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
}
