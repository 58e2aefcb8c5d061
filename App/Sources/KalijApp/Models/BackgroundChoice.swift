/// Whether Kalij receives messages without a window, as the user has chosen.
public enum BackgroundChoice: String, StoredChoice {
    case yes, no

    public static let file = "app.background"
}
