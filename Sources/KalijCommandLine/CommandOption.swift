/// An option of a program or of a command.
public struct CommandOption: Sendable {
    /// The option as the user writes it, such as `--data` or `-v`.
    public let name: String
    /// The name of the value in the help, such as `DIR`, or the choices, such as `spam|abuse`; nil for a flag.
    public let value: String?
    /// What the option does, in a few words.
    public let help: String

    public static func flag(_ name: String, _ help: String) -> CommandOption {
        CommandOption(name: name, value: nil, help: help)
    }
    public static func value(_ name: String, _ value: String, _ help: String) -> CommandOption {
        CommandOption(name: name, value: value, help: help)
    }

    var head: String { value.map { "\(name) \($0)" } ?? name }
}
