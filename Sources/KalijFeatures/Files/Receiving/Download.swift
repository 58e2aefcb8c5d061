import KalijCore
import KalijHandlers

/// Downloads the file of a message. ``MessageFile/path`` is then its location.
public struct Download: Intent {
    public static let name = "download"
    /// The message with the file.
    public let message: MessageReference

    /// - Parameter message: the message with the file.
    public init(_ message: MessageReference) { self.message = message }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try ReceivedFiles(step: step).requestDownload(message.found(in: step).id, for: id)
    }
}

/// Cancels the download of a message's file. ``Download`` begins it again.
public struct CancelDownload: Intent {
    public static let name = "cancel_download"
    /// The message with the file.
    public let message: MessageReference

    /// - Parameter message: the message with the file.
    public init(_ message: MessageReference) { self.message = message }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try ReceivedFiles(step: step).cancelDownload(message.found(in: step).id)
        return .done
    }
}

/// Removes the received files that are stored. Their messages remain, and ``Download`` fetches a file again while its server keeps it.
public struct ClearDownloads: Intent {
    public static let name = "clear_downloads"

    /// Creates the intent.
    public init() {}

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try ReceivedFiles(step: step).clear(for: id)
    }
}

/// Discards more stored files.
struct ClearDownloadsContinuation: Handler {
    static let name = "files.clear"
    let intent: String
    /// The files of messages before it are left.
    let message: Int64

    func call(_: Void, in step: Step) throws {
        try Intents(step: step).end(intent, ReceivedFiles(step: step).clear(before: message, for: intent))
    }
}
