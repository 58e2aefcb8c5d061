import KalijText

/// What an event tells. A feature brings types of its own, and lists them (``Feature/events``).
public protocol EventContent: Sendable, CustomStringConvertible {
    /// What is told, as `event` in JSON. Never changed once it was released.
    static var name: String { get }
    /// When it is told, for `Documentation/Events.md`.
    static var meaning: String { get }
    /// The keys of JSON that it may have, besides `event`, `account`, `at` and `number`.
    static var keys: [EventKey] { get }

    /// What JSON has of it, under keys that ``EventContent/keys`` lists.
    var fields: [EventField] { get }
    /// What a person is told; nil for nothing.
    var line: PrintedText? { get }
    /// Whether only who wants to know everything is told the line.
    var isDetail: Bool { get }
    /// Whether the line is what somebody runs the program for, and not a remark.
    var isResult: Bool { get }
}

extension EventContent {
    public static var keys: [EventKey] { [] }
    public var fields: [EventField] { [] }
    public var isDetail: Bool { false }
    public var isResult: Bool { false }
    public var description: String { Self.name + (line.map { ": \($0)" } ?? "") }
}

/// A key of JSON, which means the same in all events.
public struct EventKey: Sendable, Hashable {
    /// As JSON has the key.
    public let name: String
    /// For `Documentation/Events.md`: what the value is, with its unit.
    public let meaning: String

    /// - Parameters:
    ///   - name: as it stands in JSON.
    ///   - meaning: see ``meaning``.
    public init(_ name: String, _ meaning: String) {
        self.name = name
        self.meaning = meaning
    }
}

extension EventKey {
    /// Why, in words.
    public static let reason = EventKey("reason", "why, in words")
    /// Seconds until the next attempt.
    public static let retryIn = EventKey("retry_in", "seconds until the next attempt")
}

/// A key with its value.
public struct EventField: Sendable {
    /// One of those that the event's type lists.
    public let key: EventKey
    /// The value of this event.
    public let value: EventValue

    /// - Parameters:
    ///   - key: one of those that the event's type lists.
    ///   - value: see ``EventValue``.
    public init(_ key: EventKey, _ value: EventValue) {
        self.key = key
        self.value = value
    }

    /// - Returns: nil if there is no text.
    public static func optional(_ key: EventKey, _ text: String?) -> EventField? { text.map { .init(key, .text($0)) } }
}

extension [EventField] {
    /// Those of `fields` that are there.
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
}
