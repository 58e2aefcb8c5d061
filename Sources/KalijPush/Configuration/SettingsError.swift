/// An error in a configuration, with its place.
public struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The full path of the key, as in "pushModules.monal.apns.topic"; empty for the file as a whole.
    public let key: String
    /// In words; never a value that may be secret.
    public let reason: String
    /// The other errors of the same configuration.
    public let further: [SettingsError]

    public init(_ key: String, _ reason: String, further: [SettingsError] = []) {
        self.key = key
        self.reason = reason
        self.further = further
    }

    /// This error alone, in a line.
    public var line: String { key.isEmpty ? reason : "\(key): \(reason)" }

    /// A line for each error.
    public var lines: [String] { [line] + further.map(\.line) }

    public var description: String { lines.joined(separator: "\n") }
}

/// The errors of a configuration, in the order of the reading, which continues after an error, so that an operator can correct
/// all at once.
final class SettingsErrors {
    private var errors: [SettingsError] = []

    func record(_ key: String, _ reason: String) { errors.append(SettingsError(key, reason)) }

    /// Notes the errors of `body`, and throws what is no error of the configuration.
    func collect(_ body: () throws -> Void) rethrows {
        do {
            try body()
        } catch let error as SettingsError {
            record(error)
        }
    }

    func record(_ error: SettingsError) { errors += [SettingsError(error.key, error.reason)] + error.further }

    /// Throws all errors as one, if there are any.
    func check() throws(SettingsError) {
        guard let first = errors.first else { return }
        throw SettingsError(first.key, first.reason, further: Array(errors.dropFirst()))
    }
}
