/// Turns libxml2's name pointers into references.
///
/// libxml2 keeps one copy of each name for the life of a context, so a pointer stands for a name; no name is hashed or
/// compared a second time. The cache lives as long as its context, and is emptied when full.
struct NameCache {
    struct Entry: BitwiseCopyable {
        var key: UnsafePointer<UInt8>?
        /// The process-wide id, or where the name is among the values of the stanza with the number `serial`.
        var reference: NameReference
        var serial: UInt32
    }

    private var slots: UnsafeMutablePointer<Entry>
    private var mask: Int
    private var count = 0
    private var version: Int

    /// With more slots than this, half of them in use, hostile names would cost more than a second look-up.
    private static let maxSlots = 8_192

    init() {
        slots = NameCache.empty(256)
        mask = 255
        version = NameTable.shared.version
    }

    private static func empty(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        let slots = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        slots.initialize(repeating: Entry(key: nil, reference: .none, serial: 0), count: capacity)
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

    /// How long a name of libxml2 is.
    static func length(_ name: UnsafePointer<UInt8>) -> Int {
        var length = 0
        while name[length] != 0 { length &+= 1 }
        return length
    }

    @inline(never)
    private mutating func add(_ name: UnsafePointer<UInt8>, _ slot: Int) -> UnsafeMutablePointer<Entry> {
        var slot = slot
        if count &* 2 > mask {
            grow()
            slot = NameCache.hash(name) & mask
            while slots[slot].key != nil { slot = (slot &+ 1) & mask }
        }
        slots[slot] = Entry(key: name, reference: NameCache.lookUp(name), serial: 0)
        count &+= 1
        return slots + slot
    }

    private static func lookUp(_ name: UnsafePointer<UInt8>) -> NameReference {
        let length = length(name)
        guard length <= 256 else { return .none }
        return NameTable.shared.lookUp(UnsafeRawBufferPointer(start: name, count: length)) ?? .none
    }

    private mutating func grow() {
        if mask + 1 >= NameCache.maxSlots {
            slots.update(repeating: Entry(key: nil, reference: .none, serial: 0), count: mask + 1)
            count = 0
            return
        }
        let (old, oldCount) = (slots, mask + 1)
        mask = oldCount * 2 - 1
        slots = NameCache.empty(mask + 1)
        for place in 0..<oldCount {
            guard let key = old[place].key else { continue }
            var slot = NameCache.hash(key) & mask
            while slots[slot].key != nil { slot = (slot &+ 1) & mask }
            slots[slot] = old[place]
        }
        old.deallocate()
    }

    /// Names may have got an id since the last look-up: looks again if any name was added.
    @inline(__always)
    mutating func refresh() {
        if NameTable.shared.version != version { refreshReferences() }
    }

    @inline(never)
    private mutating func refreshReferences() {
        version = NameTable.shared.version
        for slot in 0...mask {
            guard let key = slots[slot].key, !slots[slot].reference.isGlobal else { continue }
            let found = NameCache.lookUp(key)
            // The place in the open stanza stays valid.
            if found.isGlobal { slots[slot].reference = found }
        }
    }
}
