import KalijCore

/// Texts that have failed, or whose outcome is unknown, are sent again when the user requests it.
enum ResendingFeature: Feature {
    static let name = "resending"
    static var intents: [any Intent.Type] { [Resend.self] }
}
