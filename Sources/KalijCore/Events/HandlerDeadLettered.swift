import KalijText

/// A stored handler could not be called; `kalij status` lists it.
public struct HandlerDeadLettered: EventContent {
    public static let name = "dead_letter"
    public static let meaning = "A stored handler could not be called; `kalij status` lists it."
    public static let keys: [EventKey] = [.reason]
    /// The handler, and the reason.
    public let letter: DeadLetter
    public var fields: [EventField] { [EventField(.reason, .text(letter.reason))] }
    public var line: PrintedText? {
        letter.origin == .share
            ? "not taken over from the mailbox: \(letter.reason)"
            : "a stored callback could not be called: \(letter.reason)"
    }

    package init(_ letter: DeadLetter) { self.letter = letter }
}
