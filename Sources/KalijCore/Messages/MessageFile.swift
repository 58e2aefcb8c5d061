import KalijText

/// The file that a message shares (XEP-0447, XEP-0066, or an `aesgcm` URL).
public struct MessageFile: Sendable, Equatable {
    /// The state of the file in this directory.
    public enum State: String, Sendable, Codable {
        /// The user's own file; nothing is to be fetched.
        case own
        /// Offered by the sender, and not fetched.
        case offered
        /// To be fetched, or being fetched.
        case wanted
        /// Here, and checked.
        case stored
        /// Cannot be fetched.
        case failed
    }

    /// The name, as the sender declares it; cleaned only when the file is stored.
    public let name: String?
    /// The media type, as the sender declares it.
    public let type: String?
    /// In bytes; nil if unknown.
    public let size: Int64?
    /// In pixels, as the sender declares it.
    public let width: Int64?
    /// In pixels, as the sender declares it.
    public let height: Int64?
    /// Whether the file is encrypted on the server.
    public let isEncrypted: Bool
    /// Whether the file is here.
    public let state: State
    /// The path of the stored file.
    public let path: String?
    /// Why the file waits, or cannot be fetched.
    public let problem: String?

    package init(
        name: String?, type: String?, size: Int64?, width: Int64?, height: Int64?, isEncrypted: Bool, state: State,
        path: String?, problem: String?
    ) {
        (self.name, self.type, self.size, self.width, self.height) = (name, type, size, width, height)
        (self.isEncrypted, self.state, self.path, self.problem) = (isEncrypted, state, path, problem)
    }

    /// For JSON.
    var fields: [EventField] {
        .present(
            .optional(EventKey("name", ""), name), .optional(EventKey("type", ""), type),
            size.map { EventField(EventKey("size", ""), .integer($0)) },
            width.map { EventField(EventKey("width", ""), .integer($0)) },
            height.map { EventField(EventKey("height", ""), .integer($0)) },
            EventField(EventKey("encrypted", ""), .flag(isEncrypted)),
            state == .own ? nil : EventField(EventKey("transfer", ""), .text(state.rawValue)),
            .optional(EventKey("path", ""), path), .optional(EventKey("reason", ""), problem))
    }

    /// For people.
    var printedText: PrintedText {
        let size: PrintedText = size.map { ", \($0) bytes" } ?? ""
        let place: PrintedText =
            switch state {
            case .own: ""
            case .stored: path.map { ": \($0)" } ?? ""
            case .offered: ", not fetched"
            case .wanted: ", being fetched"
            case .failed: ", cannot be fetched: \(problem ?? "")"
            }
        return "(file \(name ?? "without a name")\(size)\(place))"
    }
}

extension EventKey {
    /// The file that a message shares.
    public static let file = EventKey(
        "file",
        "the file that the message shares: `name`, `type`, `size` in bytes, `width` and `height` in pixels as the sender says; whether "
            + "it is `encrypted` on the server; `transfer`, the state of a received file, with `path` if it is here, or the `reason` "
            + "why not")
    /// The path of a file.
    public static let path = EventKey("path", "the path of a file in the data directory")
}
