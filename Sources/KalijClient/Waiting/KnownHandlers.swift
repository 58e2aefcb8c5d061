import KalijHandlers

/// The handlers that a process can call, and the features that own them.
struct KnownHandlers: Sendable {
    let registry: HandlerRegistry<Step>
    let owners: [any HandlerOwner.Type]
    /// Whether this process is one that calls handlers; another one leaves that to it.
    let canCall: Bool

    /// The engine's own, and those of the application.
    /// - Throws: `HandlerError` `.duplicateName`
    init(
        _ types: [any Handler<Step>.Type] = [], owners: [any HandlerOwner.Type] = []
    ) throws(HandlerError) {
        registry = try HandlerRegistry(Self.own + types)
        self.owners = [CatchUp.self] + owners
        canCall = true
    }

    private init(none: Void) {
        registry = HandlerRegistry()
        owners = []
        canCall = false
    }

    /// Those of a process that does not drive.
    static let none = KnownHandlers(none: ())

    private static var own: [any Handler<Step>.Type] {
        [
            FeaturesKnown.self, PageRead.self, PageFilled.self, BeginKnown.self, RoomFeaturesKnown.self,
            PromiseFollowed.self, QuestionAnswered.self, CapabilitiesTold.self, InfoTold.self, InfoKnown.self,
            ItemsTold.self, ServerToldFeatures.self, PreferencesTold.self, RosterTold.self, CarbonsEnabled.self,
            DisplayedTold.self, ServerTold.self,
        ]
    }
}
