/// Turns libxml2's name pointers into references.
///
/// libxml2 keeps one copy of each name for the life of a context, so a pointer stands for a name; no name is hashed
/// or compared a second time. The cache lives and dies with its context.
struct NameCache {
    struct Entry: BitwiseCopyable {
        var key: UnsafePointer<UInt8>?
        /// The process-wide id, or `.none` if the name has none.
        var global: NameReference
        /// Where the name is among the values of the stanza with the number `serial`.
        var local: NameReference
        var serial: UInt32
        var length: UInt32
    }

    private var slots: UnsafeMutablePointer<Entry>
    private var mask: Int
    private var count = 0
    private var version: Int

    init() {
        slots = NameCache.empty(256)
        mask = 255
        version = NameTable.shared.version
    }

    private static func empty(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        let slots = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        slots.initialize(
            repeating: Entry(key: nil, global: .none, local: .none, serial: 0, length: 0), count: capacity)
        return slots
    }

    func release() { slots.deallocate() }

    /// The entry of a name; good until the next call.
    @inline(__always)
    mutating func entry(_ name: UnsafePointer<UInt8>) -> UnsafeMutablePointer<Entry> {
        var slot = NameCache.hash(name) & mask
        while true {
            let entry = slots + slot
            if entry.pointee.key == name { return entry }
            if entry.pointee.key == nil { return add(name, slot) }
            slot = (slot &+ 1) & mask
        }
    }

    @inline(__always)
    private static func hash(_ name: UnsafePointer<UInt8>) -> Int {
        let bits = UInt(bitPattern: name) &* 0x9E37_79B9_7F4A_7C15
        return Int(bitPattern: bits >> 40)
    }

    @inline(never)
    private mutating func add(_ name: UnsafePointer<UInt8>, _ slot: Int) -> UnsafeMutablePointer<Entry> {
        var slot = slot
        if count * 2 > mask {
            grow()
            slot = NameCache.hash(name) & mask
            while slots[slot].key != nil { slot = (slot &+ 1) & mask }
        }
        var length = 0
        while name[length] != 0 { length &+= 1 }
        let bytes = UnsafeRawBufferPointer(start: name, count: length)
        let global = length <= 256 ? NameTable.shared.lookUp(bytes) ?? .none : .none
        slots[slot] = Entry(
            key: name, global: global, local: .none, serial: 0, length: UInt32(truncatingIfNeeded: length))
        count += 1
        return slots + slot
    }

    private mutating func grow() {
        let (old, oldCount) = (slots, mask + 1)
        mask = oldCount * 4 - 1
        slots = NameCache.empty(mask + 1)
        for place in 0..<oldCount {
            guard let key = old[place].key else { continue }
            var slot = NameCache.hash(key) & mask
            while slots[slot].key != nil { slot = (slot &+ 1) & mask }
            slots[slot] = old[place]
        }
        old.deallocate()
    }

    /// Names may have got an id since they were met: looks again if any name was added.
    mutating func refresh() {
        let now = NameTable.shared.version
        guard now != version else { return }
        version = now
        for slot in 0...mask {
            guard let key = slots[slot].key, slots[slot].global == .none, slots[slot].length <= 256 else { continue }
            let bytes = UnsafeRawBufferPointer(start: key, count: Int(slots[slot].length))
            slots[slot].global = NameTable.shared.lookUp(bytes) ?? .none
        }
    }
}
