import KalijText

/// An intent has an outcome.
public struct IntentEnded: EventContent {
    public static let name = "done"
    public static let meaning = "A command that changes something is done, or has failed."
    public static let keys: [EventKey] = [.command, .originID, .error]
    /// The id of the intent.
    public let id: String
    /// The name of the command.
    public let command: String
    /// The reason why the intent has failed; nil if it is done.
    public let problem: String?
    public var fields: [EventField] {
        .present(
            EventField(.command, .text(command)), EventField(.originID, .text(id)), .optional(.error, problem))
    }
    public var line: PrintedText? { problem.map { "\(command) failed: \($0)" } ?? "\(command): done" }
    public var isDetail: Bool { problem == nil }

    package init(id: String, command: String, problem: String?) {
        (self.id, self.command, self.problem) = (id, command, problem)
    }
}

extension EventKey {
    /// The command.
    public static let command = EventKey("command", "the command, as in `kalij run --json`")
}
