import KalijCore
import KalijText

/// A message was changed by another message: corrected, retracted or reacted to; or the user has removed it.
public struct MessageChanged: MessageEvent {
    public static let name = "changed"
    public static let meaning =
        "A message was corrected, retracted, removed or reacted to; the keys describe the message as it is now."
    public let message: Message
    public var line: PrintedText? { "changed: " + message.line }
    public var isDetail: Bool { true }

    package init(_ message: Message) { self.message = message }
}
