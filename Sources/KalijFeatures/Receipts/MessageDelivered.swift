import KalijSteps
import KalijText

/// A client of the recipient's has got a message (XEP-0184).
public struct MessageDelivered: MessageEvent {
    public static let name = "delivered"
    public static let meaning = "A client of the recipient's has got a message (XEP-0184). Told once for each message."
    public let message: Message
    public var line: PrintedText? { "delivered: \(message.body ?? "")" }
    public var isDetail: Bool { true }

    package init(_ message: Message) { self.message = message }
}
