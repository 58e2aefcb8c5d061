import CIDN

/// An XMPP address (RFC 7622): `local@domain/resource`. Only the domain is required.
///
/// The parts are prepared as in servers (RFC 6122: Nodeprep, Nameprep, Resourceprep), so two spellings of an address
/// are equal. Equality, hash and order go by the bytes of the prepared text.
///
/// ```swift
/// let romeo = try JID("Romeo@Example.org/Balcony")
/// print(romeo.bare)  // romeo@example.org
/// ```
///
/// An address takes 24 bytes and shares its original text if that text was already prepared and in ASCII: nothing is
/// allocated then.
public struct JID: Hashable, Sendable {
    /// The whole address.
    let text: String
    /// Where the domain starts in `text`, in bytes: 0, or after the "@".
    let domainStart: UInt32
    /// Where the domain ends in `text`, in bytes, and `unpreparedFlag`.
    private let domainEndAndFlag: UInt32

    private static let unpreparedFlag: UInt32 = 1 << 31
    /// The longest part in bytes of UTF-8 (RFC 7622, 3.1).
    public static let longestPart = 1023

    init(text: String, domainStart: Int, domainEnd: Int, isPrepared: Bool) {
        self.text = text
        self.domainStart = UInt32(truncatingIfNeeded: domainStart)
        self.domainEndAndFlag = UInt32(truncatingIfNeeded: domainEnd) | (isPrepared ? 0 : Self.unpreparedFlag)
    }

    var domainEnd: UInt32 { domainEndAndFlag & ~Self.unpreparedFlag }

    /// False for an address from a server that cannot be prepared; such an address is equal only to itself, byte for
    /// byte.
    public var isPrepared: Bool { domainEndAndFlag & Self.unpreparedFlag == 0 }

    /// The part before the "@"; nil if there is no "@".
    public var local: String? {
        domainStart == 0 ? nil : slice(from: 0, to: Int(domainStart) - 1)
    }

    /// The required part: a host name, or an address of the Internet (IPv6 in brackets).
    public var domain: String {
        slice(from: Int(domainStart), to: Int(domainEnd))
    }

    /// The part after the first "/"; nil if there is no "/".
    public var resource: String? {
        isBare ? nil : slice(from: Int(domainEnd) + 1, to: text.utf8.count)
    }

    /// Whether there is no resource.
    public var isBare: Bool { Int(domainEnd) == text.utf8.count }

    /// The address without its resource.
    public var bare: JID {
        guard !isBare else { return self }
        let bareText = slice(from: 0, to: Int(domainEnd))
        // Perhaps only the resource could not be prepared.
        guard isPrepared else { return .received(bareText) }
        return JID(text: bareText, domainStart: Int(domainStart), domainEnd: Int(domainEnd), isPrepared: true)
    }

    /// The same account or room with another resource, or with none.
    ///
    /// - Throws: `JIDError` if the resource, or the bare address, cannot be prepared.
    public func with(resource: String?) throws(JIDError) -> JID {
        let base = bare
        guard base.isPrepared else { return try JID(local: base.local, domain: base.domain, resource: resource) }
        guard let resource else { return base }
        let prepared = try PartPreparation.resource(resource)
        return JID(
            text: base.text + "/" + prepared, domainStart: Int(domainStart), domainEnd: Int(base.domainEnd),
            isPrepared: true)
    }

    private func slice(from start: Int, to end: Int) -> String {
        let bytes = text.utf8
        return String(
            text[bytes.index(bytes.startIndex, offsetBy: start)..<bytes.index(bytes.startIndex, offsetBy: end)])
    }
}

// MARK: - Equality and order by bytes

// Strings compare by canonical equivalence, and different unprepared addresses could become equal.
extension JID: Comparable {
    public static func == (left: JID, right: JID) -> Bool {
        let same = left.text.utf8.withContiguousStorageIfAvailable { first in
            right.text.utf8.withContiguousStorageIfAvailable { second in
                guard first.count == second.count else { return false }
                guard let start = first.baseAddress, let other = second.baseAddress else { return true }
                // Both buffers live for the length of this call and hold `first.count` bytes.
                return memcmp(start, other, first.count) == 0
            }
        }
        return (same ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    public static func < (left: JID, right: JID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        let hashed: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))  // lives for the length of this call
        }
        if hashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
    }
}

// MARK: - Text

extension JID: CustomStringConvertible {
    /// The prepared text, as written in stanzas.
    public var description: String { text }
}

extension JID: Codable {
    /// Reads the text as a `received` address, so that every stored address can be read again.
    public init(from decoder: any Decoder) throws {
        self = .received(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
