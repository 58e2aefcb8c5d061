/// An entry of a node's stream: up to 500 records, or none as a keep-alive, or a part of a snapshot.
///
/// A byte of flags, 8 bytes of the entry's predecessor, and 33 bytes for each record: key, version, expiry, reason.
struct SharedEntry: Sendable, Equatable {
    static let maxRecords = 500
    private static let recordBytes = 33

    /// The first and the last entry of a snapshot. All records that a node still vouches for are in its snapshot, or in
    /// its stream behind the snapshot's first entry.
    var isFirst = false
    var isLast = false
    /// The entry that the node has written before; 0 for none.
    var previous: UInt64
    var records: [BlockChange]
    /// The number of records with an unsupported reason.
    var unknown = 0

    init(isFirst: Bool = false, isLast: Bool = false, previous: UInt64, records: [BlockChange]) {
        self.isFirst = isFirst
        self.isLast = isLast
        self.previous = previous
        self.records = records
    }

    /// Nil for bytes that no node writes.
    init?(_ bytes: [UInt8], origin: String) {
        guard bytes.count >= 9, (bytes.count - 9) % Self.recordBytes == 0,
            (bytes.count - 9) / Self.recordBytes <= Self.maxRecords
        else { return nil }
        self.init(
            isFirst: bytes[0] & 1 != 0, isLast: bytes[0] & 2 != 0, previous: Self.number(bytes, at: 1), records: [])
        records.reserveCapacity(bytes.count / Self.recordBytes)
        for start in stride(from: 9, to: bytes.count, by: Self.recordBytes) {
            guard let reason = BlockReason(rawValue: bytes[start + 32]) else {
                unknown += 1
                continue
            }
            records.append(
                BlockChange(
                    key: HashedKey(high: Self.number(bytes, at: start), low: Self.number(bytes, at: start + 8)),
                    version: Self.number(bytes, at: start + 16),
                    expires: Milliseconds(bitPattern: Self.number(bytes, at: start + 24)), reason: reason,
                    origin: origin))
        }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = [(isFirst ? 1 : 0) | (isLast ? 2 : 0)]
        bytes.reserveCapacity(9 + records.count * Self.recordBytes)
        func add(_ number: UInt64) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
        add(previous)
        for record in records {
            bytes += record.key.bytes
            add(record.version)
            add(UInt64(bitPattern: record.expires))
            bytes.append(record.reason.rawValue)
        }
        return bytes
    }

    private static func number(_ bytes: [UInt8], at start: Int) -> UInt64 {
        var number: UInt64 = 0
        for byte in bytes[start..<(start + 8)] { number = number << 8 | UInt64(byte) }
        return number
    }
}
