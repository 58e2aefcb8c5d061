import Synchronization

/// The process-wide table of names: append-only, so an id stays valid for as long as the process runs.
///
/// Names of queries and the vocabulary of XMPP get an id. Names from a stream never do, because a stranger would fill
/// the table. A tree stores a name without an id as bytes of its own.
final class NameTable: Sendable {
    static let shared = NameTable()

    /// More names than this get no id; such names are compared by bytes.
    static let capacity = 16_384

    struct Entry: BitwiseCopyable {
        var bytes: UnsafeRawBufferPointer
    }

    private struct Index {
        var count = 0
        /// A power of two, at most half of them in use. The slots grow with the names: a full table would take 128 KiB of every
        /// process, of which most have few names.
        var slots = [UInt32](repeating: 0, count: 1_024)
    }

    // Fixed in size and place, each entry written once under the lock before its id is published: a reader with an id needs no lock.
    nonisolated(unsafe) let entries: UnsafeMutablePointer<Entry>
    private let index: Mutex<Index>
    /// Changes with every added name: a cache then looks again for ids.
    private let generation = Atomic<Int>(0)

    init() {
        entries = .allocate(capacity: NameTable.capacity)
        index = Mutex(Index())
        for name in vocabulary {
            _ = intern(name)
        }
    }

    var version: Int { generation.load(ordering: .acquiring) }

    /// The reference for `bytes`, or nil if the name has no id.
    func lookUp(_ bytes: UnsafeRawBufferPointer) -> NameReference? {
        index.withLock { index in
            let slot = find(bytes, in: index.slots)
            let id = index.slots[slot]
            return id == 0 ? nil : NameReference(globalIndex: id &- 1)
        }
    }

    /// The reference for `name`, added if new; nil if the table is full.
    func intern(_ name: String) -> NameReference? {
        var name = name
        return name.withUTF8 { intern(UnsafeRawBufferPointer($0)) }
    }

    private func intern(_ bytes: UnsafeRawBufferPointer) -> NameReference? {
        let result: NameReference? = index.withLock { index in
            let known = index.slots[find(bytes, in: index.slots)]
            if known != 0 { return NameReference(globalIndex: known &- 1) }
            guard index.count < NameTable.capacity else { return nil }
            if index.count * 2 >= index.slots.count { grow(&index) }
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            copy.copyMemory(from: bytes)
            (entries + index.count).initialize(to: Entry(bytes: UnsafeRawBufferPointer(copy)))
            let slot = find(bytes, in: index.slots)
            index.count += 1
            index.slots[slot] = UInt32(index.count)  // fits: at most `capacity`
            return NameReference(globalIndex: UInt32(index.count - 1))  // fits: just counted up
        }
        generation.add(1, ordering: .releasing)
        return result
    }

    private func grow(_ index: inout Index) {
        index.slots = [UInt32](repeating: 0, count: index.slots.count * 2)
        for place in 0..<index.count {
            index.slots[find(entries[place].bytes, in: index.slots)] = UInt32(place + 1)  // fits: at most `capacity`
        }
    }

    /// The bytes of a name with an id. The bytes live as long as the process.
    func bytes(_ reference: NameReference) -> UnsafeRawBufferPointer {
        entries[Int(reference.globalIndex)].bytes
    }

    private func find(_ bytes: UnsafeRawBufferPointer, in slots: [UInt32]) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash(bytes)) & mask
        while slots[slot] != 0 {
            if sameBytes(entries[Int(slots[slot]) - 1].bytes, bytes) { return slot }
            slot = (slot + 1) & mask
        }
        return slot
    }

    private func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        return hash ^ (hash >> 32)
    }
}

/// A name as stored in a tree: nothing, an id of the process-wide table, or the place of its bytes in the tree.
struct NameReference: Equatable {
    var raw: UInt32

    init(raw: UInt32) { self.raw = raw }
    init(globalIndex: UInt32) { raw = 0x8000_0000 | globalIndex }
    // traps: beyond 2 GiB of a program's own names in a tree; the limits of a parser are below
    init(offset: Int) { raw = UInt32(Int32(offset + 2)) }

    /// No name of its own: for a namespace, the namespace of the parent.
    static let inherited = NameReference(raw: 0)
    /// Explicitly nothing: for a namespace, `xmlns=''`.
    static let none = NameReference(raw: 1)
    /// The mark of a piece of text between the children of an element.
    static let text = NameReference(raw: 0x7fff_ffff)

    var isGlobal: Bool { Int32(bitPattern: raw) < 0 }
    var globalIndex: UInt32 { raw & 0x7fff_ffff }
    /// The place of the name's length and bytes among the values of the tree; only for a name without an id.
    var offset: Int { Int(raw) - 2 }
    var isAbsent: Bool { raw < 2 }
}

@inline(__always)
func sameBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    guard left.count > 0, let first = left.baseAddress, let second = right.baseAddress else { return true }
    if first == second { return true }
    // Names of one length mostly differ in their last byte, which needs no call.
    let last = left.count &- 1
    return first.loadUnaligned(fromByteOffset: last, as: UInt8.self)
        == second.loadUnaligned(fromByteOffset: last, as: UInt8.self) && compareMemory(first, second, left.count)
}
