import Glibc

/// A text as an identifier: equal, hashed and ordered by its bytes, as in SQLite, in servers and in other clients.
///
/// Swift's texts are equal if they are canonically equivalent: U+FA70 and U+4E26 are one key of a dictionary, and two addresses
/// of rooms. So sets, dictionaries, comparisons and orders of identifiers from outside use this type.
public struct ExactText: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) { self.text = text }

    public static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.count == right.text.utf8.count && compare(left, right) == 0
    }

    public static func < (left: ExactText, right: ExactText) -> Bool { compare(left, right) < 0 }

    /// Negative if `left` precedes `right`, 0 if the bytes are equal.
    private static func compare(_ left: ExactText, _ right: ExactText) -> Int {
        left.withBytes { left in
            right.withBytes { right in
                guard let one = left.baseAddress, let other = right.baseAddress else { return left.count - right.count }
                let order = Int(memcmp(one, other, min(left.count, right.count)))
                return order == 0 ? left.count - right.count : order
            }
        }
    }

    public func hash(into hasher: inout Hasher) { withBytes { hasher.combine(bytes: $0) } }

    /// Lends the bytes for the length of the call.
    @inline(__always)
    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // Without a copy of the text, as nearly all can be lent.
        let result = text.utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
        if let result { return result }
        var text = text
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    public var description: String { text }
}

extension String {
    /// Whether `byte` is among the bytes of the text.
    public func hasByte(_ byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.contains(byte) } ?? utf8.contains(byte)
    }
}

extension StringProtocol {
    /// The text as an identifier.
    public var exact: ExactText { ExactText(String(self)) }

    /// Whether the text begins with the bytes of `start`; `hasPrefix` compares Characters.
    @inlinable
    public func begins(with start: String) -> Bool { utf8.starts(with: start.utf8) }

    /// What is behind the bytes of `start`; nil if the text does not begin with them.
    @inlinable
    public func rest(after start: String) -> String? {
        begins(with: start) ? String(Substring(Substring(self).utf8.dropFirst(start.utf8.count))) : nil
    }

    /// Whether the text ends with the bytes of `end`; `hasSuffix` compares Characters.
    public func ends(with end: String) -> Bool { utf8.reversed().starts(with: end.utf8.reversed()) }

    /// The parts of the text between scalars, empty parts included; `split` compares Characters, and does not find a separator
    /// followed by a combining mark.
    public func parts(at separator: Unicode.Scalar, most: Int = .max) -> [String] {
        Substring(self).unicodeScalars
            // characters: scalars.
            .split(separator: separator, maxSplits: most - 1, omittingEmptySubsequences: false).map { String($0) }
    }

    /// The words of the text, between scalars of white space.
    public var words: [String] {
        Substring(self).unicodeScalars.split { $0.properties.isWhitespace }.map { String($0) }
    }

    /// The parts of the text between scalars, without empty parts.
    public func words(at separator: Unicode.Scalar) -> [String] {
        Substring(self).unicodeScalars.split(separator: separator).map { String($0) }
    }
}

extension String {
    /// So many bytes of a Character are left out at a cut; a longer Character is cut, too.
    private static let longestCharacter = 64

    /// The beginning of the text, at most so many bytes of UTF-8 long; cut between Characters, where they are short.
    ///
    /// `prefix` counts Characters, and a single Character may have any number of combining marks.
    public func cut(to bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(startIndex, offsetBy: bytes)
        while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        let head = self[..<end]
        guard let last = head.indices.last, last > startIndex, head[last...].utf8.count < Self.longestCharacter else {
            return String(head)
        }
        // Made anew: an index of `head` remembers where its Character ends in `head`.
        let start = utf8.index(startIndex, offsetBy: head[..<last].utf8.count)
        return index(after: start) > end ? String(self[..<start]) : String(head)
    }
}
