import KalijAddress
import KalijCore

/// Shares a file that was accepted already, and is stored in `files/out` of the directory. Applications call
/// `AccountDirectory.share(file:)`, which accepts the file and creates this intent.
package struct SendFile: Intent {
    package static let name = "send_file"
    /// The recipient.
    package let to: String
    /// The name in `files/out`.
    package let file: String
    package let name: String
    package let type: String
    /// In bytes.
    package let size: Int64
    package let sha256: [UInt8]
    /// In pixels.
    package let width: Int64?
    package let height: Int64?
    /// The text that follows the file, and its id.
    package let text: String?
    package let textID: String?
    package let privacy: EncryptionPreference
    /// Whether the text was the conversation's draft; nil if not.
    package let endsDraft: Bool?

    package init(
        to: JID, file: String, _ description: FileDescription, text: String?, textID: String?,
        privacy: EncryptionPreference, endsDraft: Bool = false
    ) {
        (self.to, self.file) = (to.description, file)
        (name, type) = (description.name ?? "file", description.type ?? "application/octet-stream")
        (size, sha256) = (description.size ?? 0, description.sha256 ?? [])
        (width, height) = (description.width, description.height)
        (self.text, self.textID, self.privacy) = (text, textID, privacy)
        self.endsDraft = endsDraft ? true : nil
    }

    package func check() throws {
        _ = try JID(to)
        // The name is part of a path.
        guard (1...64).contains(file.utf8.count),
            file.utf8.allSatisfy({
                $0 == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
            })
        else { throw IntentFailure("\"\(file)\" is no accepted file") }
        guard size > 0, sha256.count == 32 else { throw IntentFailure("the description of the file makes no sense") }
        if let text { _ = try OutgoingText.element(text) }
    }

    package func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        try Uploads(step: step).accept(self, id: id)
        return .pending
    }
}

/// Cancels the upload of a file whose message is not queued yet, or of a file that has failed.
public struct CancelUpload: Intent {
    public static let name = "cancel_upload"
    /// The id of the message (`origin_id`).
    public let upload: String

    /// - Parameter upload: the id of the message (`origin_id`).
    public init(_ upload: String) { self.upload = upload }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try Uploads(step: step).cancel(upload)
        return .done
    }
}

/// Pauses the upload of a file until ``RetryUpload`` resumes it. An upload whose last block may have left is not paused: the server may
/// have the file.
public struct PauseUpload: Intent {
    public static let name = "pause_upload"
    /// The id of the message (`origin_id`).
    public let upload: String

    /// - Parameter upload: the id of the message (`origin_id`).
    public init(_ upload: String) { self.upload = upload }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try Uploads(step: step).pause(upload)
        return .done
    }
}

/// Retries a failed, waiting or paused upload at once; one that is under way continues. A message that has failed is removed: a new one
/// replaces it.
public struct RetryUpload: Intent {
    public static let name = "retry_upload"
    /// The id of the message (`origin_id`).
    public let upload: String

    /// - Parameter upload: the id of the message (`origin_id`).
    public init(_ upload: String) { self.upload = upload }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try Uploads(step: step).retry(upload)
        return .done
    }
}
