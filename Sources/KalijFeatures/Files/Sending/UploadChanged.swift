import KalijCore
import KalijText

/// The state of an upload has changed, or more of the file was sent.
public struct UploadChanged: EventContent {
    public static let name = "upload"
    public static let meaning =
        "A file on its way to the server has another state, or more of the file has left (twice a second at most)."
    public static let keys: [EventKey] = [.originID, .to, .fileName, .transfer, .bytes, .size, .reason]
    /// The id of the message that will share the file.
    public let id: String
    /// The recipient.
    public let to: String
    /// The name of the file.
    public let file: String
    /// The value of `transfer` in JSON: `Documentation/Events.md`.
    public let state: String
    /// How many bytes were sent; nil if no transfer is in progress.
    public let bytes: Int64?
    /// The size of the file in bytes.
    public let size: Int64
    /// Why the file waits or has failed; nil if it does neither.
    public let reason: String?

    public var fields: [EventField] {
        .present(
            EventField(.originID, .text(id)), EventField(.to, .text(to)), EventField(.fileName, .text(file)),
            EventField(.transfer, .text(state)), bytes.map { EventField(.bytes, .integer($0)) },
            EventField(.size, .integer(size)), .optional(.reason, reason))
    }
    public var isTransfer: Bool { true }
    public var changed: DirectoryChange.Part? { .init(.transfer, id, value: bytes.map(String.init)) }
    public var line: PrintedText? {
        let progress: PrintedText = bytes.map { ", \($0) of \(size) bytes" } ?? ""
        return "upload of \(file) to \(to): \(state)\(progress)\(reason.map { " (\($0))" } ?? "")"
    }
    public var isDetail: Bool { state != "failed" }

    package init(_ row: UploadRow, state: String? = nil, bytes: Int64? = nil) {
        (id, to, file) = (row.messageID, row.recipient.description, row.description.name ?? "file")
        (self.state, self.bytes) = (state ?? row.plan.stage.rawValue, bytes)
        (size, reason) = (row.putSize, row.plan.reason)
    }
}
