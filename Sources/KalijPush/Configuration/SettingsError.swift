/// An error in a configuration, with its place.
public struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The full path of the key, as in "pushModules.monal.apns.topic"; empty for the file as a whole.
    public let key: String
    /// In words; never a value that may be secret.
    public let reason: String

    public init(_ key: String, _ reason: String) {
        self.key = key
        self.reason = reason
    }

    public var description: String { key.isEmpty ? reason : "\(key): \(reason)" }
}
