import Synchronization

/// The plans of the program's literals, found without a lock.
///
/// Literals are part of the program's text, so their number has a bound; a plan in here stays forever, and queries refer to the
/// plan without counting references. The table has a bound of its own all the same: see ``QueryCache``.
struct LiteralTable: Sendable {
    static let shared = LiteralTable()

    /// How many literals are kept forever.
    static let capacity = 2_048

    /// A literal: its place in the program, and the type of its results.
    struct Key: Hashable {
        var type: ObjectIdentifier
        /// The address and the length of each piece; 0 and 0 for a value between pieces.
        var pieces: [UInt]
    }

    private struct Slot {
        let type: ObjectIdentifier
        /// The first piece, mostly the only piece.
        let start: UInt
        let length: UInt
        let pieces: UnsafeBufferPointer<UInt>
        let plan: UnsafePointer<QueryPlan>
    }

    /// More than twice as many as literals, so that most searches end at once.
    private static let placeCount = 4_096

    // Both are fixed in size and place. A slot is written before its number is set, and never changes again. The slots are side
    // by side in the order of their insertion: so a process takes only the memory of its own literals.
    private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>
    /// The numbers of the slots, counted from 1; 0 as long as the place is empty.
    private nonisolated(unsafe) let places: UnsafeMutablePointer<Atomic<UInt16>>

    private init() {
        slots = .allocate(capacity: LiteralTable.capacity)
        places = .allocate(capacity: LiteralTable.placeCount)
        for place in 0..<LiteralTable.placeCount { (places + place).initialize(to: Atomic(0)) }
    }

    /// The plan of a literal in one piece, nil if missing (so far).
    @inline(__always)
    func plan(_ start: UInt, _ length: UInt, _ type: ObjectIdentifier) -> UnsafePointer<QueryPlan>? {
        var place = LiteralTable.place(start, 2, type)
        while case let number = Int(places[place].load(ordering: .acquiring)), number > 0 {
            let slot = slots + (number &- 1)
            if slot.pointee.start == start, slot.pointee.length == length, slot.pointee.type == type,
                slot.pointee.pieces.count == 2
            {
                return slot.pointee.plan
            }
            place = (place &+ 1) & (LiteralTable.placeCount &- 1)
        }
        return nil
    }

    /// The plan of any literal, nil if missing (so far).
    func plan(_ key: Key) -> UnsafePointer<QueryPlan>? {
        var place = LiteralTable.place(key.pieces[0], key.pieces.count, key.type)
        while case let number = Int(places[place].load(ordering: .acquiring)), number > 0 {
            let slot = slots[number - 1]
            if slot.type == key.type, slot.pieces.elementsEqual(key.pieces) { return slot.plan }
            place = (place &+ 1) & (LiteralTable.placeCount &- 1)
        }
        return nil
    }

    /// Keeps a program forever. The caller makes sure that only one thread at a time calls this function, and not more
    /// often than the table has room.
    /// - Parameter number: how many programs were added before.
    func add(_ key: Key, _ program: Program, number: Int) {
        let pieces = UnsafeMutableBufferPointer<UInt>.allocate(capacity: key.pieces.count)
        _ = pieces.initialize(from: key.pieces)
        var place = LiteralTable.place(pieces[0], pieces.count, key.type)
        while places[place].load(ordering: .relaxed) != 0 {
            place = (place &+ 1) & (LiteralTable.placeCount &- 1)
        }
        (slots + number).initialize(
            to: Slot(
                type: key.type, start: pieces[0], length: pieces[1], pieces: UnsafeBufferPointer(pieces),
                plan: UnsafePointer(Unmanaged.passRetained(program).takeUnretainedValue().plan)))
        places[place].store(UInt16(number + 1), ordering: .releasing)  // fits: at most `capacity`
    }

    @inline(__always)
    private static func place(_ start: UInt, _ count: Int, _ type: ObjectIdentifier) -> Int {
        let mixed = (start ^ UInt(bitPattern: type) >> 3 ^ UInt(bitPattern: count)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 40) & (placeCount &- 1)
    }
}
