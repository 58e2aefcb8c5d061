/// The colours of the app, as the user has chosen.
public enum Appearance: String, StoredChoice, CaseIterable {
    case desktop, light, dark

    public static let file = "app.appearance"

    public var words: String {
        switch self {
        case .desktop: Words.asDesktop
        case .light: Words.light
        case .dark: Words.dark
        }
    }
}
