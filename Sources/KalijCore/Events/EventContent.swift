import KalijText

/// The content of an event. A feature brings types of its own, and lists them (``Feature/events``).
public protocol EventContent: Sendable, CustomStringConvertible {
    /// The value of `event` in JSON. Never changed after a release.
    static var name: String { get }
    /// When the event is emitted, for `Documentation/Events.md`.
    static var meaning: String { get }
    /// The possible keys in JSON, besides `event`, `account`, `at` and `number`.
    static var keys: [EventKey] { get }

    /// The fields in JSON; their keys are among ``EventContent/keys``.
    var fields: [EventField] { get }
    /// The line for people; nil for none.
    var line: PrintedText? { get }
    /// What is shown differently; nil if nothing is. `AccountState` follows the events about sessions itself.
    var changed: DirectoryChange.Part? { get }
    /// When what the event is about was sent, in milliseconds since 1970; nil if the event's own time counts.
    var sentAt: Int64? { get }
    /// Whether ``changed`` is the progress of a transfer.
    var isTransfer: Bool { get }
    /// Whether the line is a detail, printed only on request.
    var isDetail: Bool { get }
    /// Whether the line is a result of the program, and not a remark.
    var isResult: Bool { get }
}

extension EventContent {
    public static var keys: [EventKey] { [] }
    public var fields: [EventField] { [] }
    public var changed: DirectoryChange.Part? { nil }
    public var isTransfer: Bool { false }
    public var sentAt: Int64? { nil }
    public var isDetail: Bool { false }
    public var isResult: Bool { false }
    public var description: String { Self.name + (line.map { ": \($0)" } ?? "") }
}

/// A key in JSON, with the same meaning in all events.
public struct EventKey: Sendable, Hashable {
    /// The key in JSON.
    public let name: String
    /// For `Documentation/Events.md`: the meaning of the value, with its unit.
    public let meaning: String

    /// - Parameters:
    ///   - name: the key in JSON.
    ///   - meaning: see ``meaning``.
    public init(_ name: String, _ meaning: String) {
        self.name = name
        self.meaning = meaning
    }
}

extension EventKey {
    /// Why, in words.
    public static let reason = EventKey("reason", "why, in words")
    /// The code of the reason.
    public static let reasonCode = EventKey(
        "reason_code",
        "why, as a code; without it the words are all that is known")
    /// Seconds until the next attempt.
    public static let retryIn = EventKey("retry_in", "seconds until the next attempt")
}

/// A key with its value.
public struct EventField: Sendable, Equatable {
    /// A key listed by the event's type.
    public let key: EventKey
    /// The value of this event.
    public let value: EventValue

    /// - Parameters:
    ///   - key: a key listed by the event's type.
    ///   - value: see ``EventValue``.
    public init(_ key: EventKey, _ value: EventValue) {
        self.key = key
        self.value = value
    }

    /// - Returns: nil if there is no text.
    public static func optional(_ key: EventKey, _ text: String?) -> EventField? { text.map { .init(key, .text($0)) } }
}

extension [EventField] {
    /// The existing fields among `fields`.
    public static func present(_ fields: EventField?...) -> [EventField] { fields.compactMap { $0 } }
}

/// The value of a key.
public enum EventValue: Sendable, Equatable {
    /// A string.
    case text(String)
    /// A number without a fraction.
    case integer(Int64)
    /// A number with a fraction.
    case number(Double)
    /// `true` or `false`.
    case flag(Bool)
    /// Milliseconds since 1970; JSON has an XEP-0082 date-time in UTC.
    case time(Int64)
    /// A list of strings.
    case texts([String])
    /// Lists of strings, by names.
    case lists([List])
    /// An object with fields of its own.
    case object([EventField])

    /// A named list of strings.
    public struct List: Sendable, Equatable {
        /// The name, unique in the value.
        public let name: String
        /// The strings, in order.
        public let texts: [String]

        package init(name: String, texts: [String]) { (self.name, self.texts) = (name, texts) }
    }
}
