import Synchronization

/// The plans of the program's literals, found without a lock.
///
/// Literals are part of the program's text, so their number has a bound; a plan in here stays for ever, and queries
/// refer to the plan without counting references. The table has a bound of its own all the same: see ``QueryCache``.
struct LiteralTable: Sendable {
    static let shared = LiteralTable()

    /// How many literals are kept for ever.
    static let capacity = 2_048

    /// A literal: its place in the program, and the type of its results.
    struct Key: Hashable {
        var type: ObjectIdentifier
        /// The address and the length of each piece; 0 and 0 for a value between pieces.
        var pieces: [UInt]
    }

    private struct Slot: ~Copyable {
        var type: ObjectIdentifier
        /// The first piece, mostly the only piece.
        var start: UInt
        var length: UInt
        var pieceCount: Int
        var pieces: UnsafePointer<UInt>
        /// Nil as long as the slot is empty.
        let plan: Atomic<UnsafePointer<QueryPlan>?>
    }

    private static let slotCount = 4_096

    // Fixed in size and place; a slot is complete before its plan is set, and never changes again.
    private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>

    private init() {
        slots = .allocate(capacity: LiteralTable.slotCount)
        let nothing = UnsafeMutablePointer<UInt>.allocate(capacity: 1)
        nothing.initialize(to: 0)
        for place in 0..<LiteralTable.slotCount {
            (slots + place).initialize(
                to: Slot(
                    type: ObjectIdentifier(Never.self), start: 0, length: 0, pieceCount: 0, pieces: nothing,
                    plan: Atomic(nil)))
        }
    }

    /// The plan of a literal in one piece, nil if missing (so far).
    @inline(__always)
    func plan(_ start: UInt, _ length: UInt, _ type: ObjectIdentifier) -> UnsafePointer<QueryPlan>? {
        var place = LiteralTable.place(start, 2, type)
        while let plan = slots[place].plan.load(ordering: .acquiring) {
            let slot = slots + place
            if slot.pointee.start == start, slot.pointee.length == length, slot.pointee.type == type,
                slot.pointee.pieceCount == 2
            {
                return plan
            }
            place = (place &+ 1) & (LiteralTable.slotCount &- 1)
        }
        return nil
    }

    /// The plan of any literal, nil if missing (so far).
    func plan(_ key: Key) -> UnsafePointer<QueryPlan>? {
        var place = LiteralTable.place(key.pieces[0], key.pieces.count, key.type)
        while let plan = slots[place].plan.load(ordering: .acquiring) {
            let pieces = UnsafeBufferPointer(start: slots[place].pieces, count: slots[place].pieceCount)
            if slots[place].type == key.type, pieces.elementsEqual(key.pieces) { return plan }
            place = (place &+ 1) & (LiteralTable.slotCount &- 1)
        }
        return nil
    }

    /// Keeps a program for ever. The caller makes sure that only one thread at a time calls this function, and not more
    /// often than the table has room.
    func add(_ key: Key, _ program: Program) {
        let pieces = UnsafeMutableBufferPointer<UInt>.allocate(capacity: key.pieces.count)
        guard let base = pieces.baseAddress else { return }
        _ = pieces.initialize(from: key.pieces)
        var place = LiteralTable.place(pieces[0], pieces.count, key.type)
        while slots[place].plan.load(ordering: .relaxed) != nil {
            place = (place &+ 1) & (LiteralTable.slotCount &- 1)
        }
        let slot = slots + place
        (slot.pointee.type, slot.pointee.start, slot.pointee.length) = (key.type, pieces[0], pieces[1])
        (slot.pointee.pieceCount, slot.pointee.pieces) = (pieces.count, UnsafePointer(base))
        let plan = UnsafePointer(Unmanaged.passRetained(program).takeUnretainedValue().plan)
        slot.pointee.plan.store(plan, ordering: .releasing)
    }

    @inline(__always)
    private static func place(_ start: UInt, _ count: Int, _ type: ObjectIdentifier) -> Int {
        let mixed = (start ^ UInt(bitPattern: type) >> 3 ^ UInt(bitPattern: count)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 40) & (slotCount &- 1)
    }
}
