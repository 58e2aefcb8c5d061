import KalijText

/// A stanza was quarantined unprocessed; `kalij quarantine` lists it.
public struct Quarantined: EventContent {
    public static let name = "quarantined"
    public static let meaning = "A stanza was set aside unprocessed; `kalij quarantine` lists it."
    public static let keys: [EventKey] = [.reason, .from]
    /// The reason, as a text.
    public let reason: String
    /// The sender; nil for the server.
    public let sender: String?
    public var fields: [EventField] { .present(EventField(.reason, .text(reason)), .optional(.from, sender)) }
    public var line: PrintedText? { "set aside a stanza from \(sender ?? "the server"): \(reason)" }

    package init(reason: String, sender: String?) { (self.reason, self.sender) = (reason, sender) }
}
