/// A value bound to a statement's parameter.
public enum Value: Sendable, Equatable {
    /// NULL.
    case null
    /// A number.
    case integer(Int64)
    /// A text in UTF-8.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// The bytes of a text or blob.
    var size: Int {
        switch self {
        case .null, .integer: 0
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        }
    }

    /// An optional text: nil is NULL.
    public static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
    /// An optional integer: nil is NULL.
    public static func optional(_ integer: Int64?) -> Value { integer.map { .integer($0) } ?? .null }
    /// An optional blob: nil is NULL.
    public static func optional(_ blob: [UInt8]?) -> Value { blob.map { .blob($0) } ?? .null }

    /// A state as it is stored: statements name no states by their numbers or words.
    package static func state(_ state: some RawRepresentable<Int64>) -> Value { .integer(state.rawValue) }
    /// A state as it is stored: statements name no states by their numbers or words.
    package static func state(_ state: some RawRepresentable<String>) -> Value { .text(state.rawValue) }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(value) }
}
