import KalijCore
import KalijText

/// The state of a received file has changed, or more of it was received.
public struct DownloadChanged: EventContent {
    public static let name = "download"
    public static let meaning =
        "The file of a received message has another state, or more of the file has come (twice a second at most)."
    public static let keys: [EventKey] = [.id, .fileName, .transfer, .bytes, .size, .path, .reason]
    /// The row of the message (`Message.id`).
    public let message: Int64
    /// The file.
    public let file: MessageFile
    /// The value of `transfer` in JSON: `Documentation/Events.md`.
    public let state: String
    /// How many bytes were received; nil if no transfer is in progress.
    public let bytes: Int64?

    public var fields: [EventField] {
        .present(
            EventField(.id, .integer(message)), .optional(.fileName, file.name),
            EventField(.transfer, .text(state)), bytes.map { EventField(.bytes, .integer($0)) },
            file.size.map { EventField(.size, .integer($0)) }, .optional(.path, file.path),
            .optional(.reason, file.problem))
    }
    public var isTransfer: Bool { true }
    public var changed: DirectoryChange.Part? { .init(.transfer, "\(message)", value: bytes.map(String.init)) }
    public var line: PrintedText? {
        let progress: PrintedText = bytes.map { ", \($0) of \(file.size.map { "\($0)" } ?? "?") bytes" } ?? ""
        let words: PrintedText = file.path.map { ": \($0)" } ?? file.problem.map { " (\($0))" } ?? ""
        return "download of message \(message): \(state)\(progress)\(words)"
    }
    public var isDetail: Bool { state != "stored" && state != "failed" }

    package init(_ message: Int64, _ file: MessageFile, state: String? = nil, bytes: Int64? = nil) {
        (self.message, self.file) = (message, file)
        (self.state, self.bytes) = (state ?? file.state.rawValue, bytes)
    }
}
