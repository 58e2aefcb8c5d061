import KalijSteps

/// Fetches the file of a message. The file is in ``MessageFile/path`` then.
public struct Download: Intent {
    public static let name = "download"
    /// The message with the file.
    public let message: MessageReference

    /// - Parameter message: the message with the file.
    public init(_ message: MessageReference) { self.message = message }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try ReceivedFiles(step: step).want(message.found(in: step).id, for: id)
    }
}
