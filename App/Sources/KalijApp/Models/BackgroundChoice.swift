import Glibc

/// Whether Kalij receives messages without a window, as the user has chosen.
public enum BackgroundChoice: String, Sendable {
    case yes, no

    private static func path(_ directory: String) -> String { directory + "/app.background" }

    /// - Returns: nil if the user has not chosen yet.
    public static func load(in directory: String) -> BackgroundChoice? {
        guard let file = fopen(path(directory), "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return BackgroundChoice(rawValue: String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self))
    }

    /// Stores the choice, as far as possible: otherwise the user is prompted again.
    public func keep(in directory: String) {
        guard let file = fopen(Self.path(directory), "we") else { return }
        fputs(rawValue + "\n", file)
        fclose(file)
    }
}
