import KalijText

/// A reply of Redis, in the first version of its protocol (RESP2).
public enum RESP: Sendable, Equatable {
    case text([UInt8])
    case status(String)
    case integer(Int64)
    case array([RESP])
    case null
    case error(String)
}

extension RESP {
    var array: [RESP]? { if case .array(let array) = self { array } else { nil } }
    var bytes: [UInt8]? { if case .text(let bytes) = self { bytes } else { nil } }
    var string: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// A number, be it written as a text.
    var number: Int64? {
        if case .integer(let number) = self { number } else { string.flatMap { Int64($0) } }
    }

    /// The value of a name in a flat list of names and values.
    func value(of name: String) -> RESP? {
        guard let array else { return nil }
        for index in stride(from: 0, to: array.count - 1, by: 2) where array[index].string == name {
            return array[index + 1]
        }
        return nil
    }
}

/// A command: its name and arguments.
public struct RedisCommand: Sendable, Equatable {
    public var words: [[UInt8]]

    init(_ words: String...) { self.words = words.map { Array($0.utf8) } }
    init(words: [String], value: [UInt8]) { self.words = words.map { Array($0.utf8) } + [value] }
    init(_ words: [String]) { self.words = words.map { Array($0.utf8) } }
}

/// The id of a stream's entry. The second number is always 0.
enum EntryID {
    static func text(_ id: UInt64) -> String { "\(id)-0" }
    /// The id to read from, for the entries after an entry, whatever the second number.
    static func after(_ id: UInt64) -> String { id == 0 ? "0" : "\(id)-\(UInt64.max)" }
    /// The first number. No node writes another second number than 0; an entry with one is read as damaged, or as read
    /// before.
    static func parse(_ text: String?) -> UInt64? {
        guard let parts = text?.words(at: "-").map({ UInt64($0) }),  // fits: nil otherwise
            parts.count == 2, parts[1] != nil
        else { return nil }
        return parts[0]
    }
}
