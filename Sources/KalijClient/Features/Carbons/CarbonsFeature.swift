import KalijHandlers

/// Copies of what other clients of the account send and get (XEP-0280).
enum CarbonsFeature: Feature {
    static let name = "carbons"

    static var handlers: [any Handler<Step>.Type] { [ServerToldFeatures.self, CarbonsEnabled.self] }
}
