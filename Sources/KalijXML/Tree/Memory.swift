#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whether `count` bytes are the same.
@inline(__always)
func compareMemory(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    memcmp(left, right, count) == 0
}

/// A growing run of trivial values whose memory is the owner's to release.
struct Region<Value: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<Value>
    private(set) var capacity: Int
    var count: Int

    init(capacity: Int) {
        base = .allocate(capacity: Swift.max(capacity, 1))
        self.capacity = Swift.max(capacity, 1)
        count = 0
    }

    /// Makes room for `extra` more values.
    @inline(__always)
    mutating func reserve(_ extra: Int) {
        if capacity &- count < extra { grow(extra) }
    }

    @inline(never)
    private mutating func grow(_ extra: Int) {
        let wanted = Swift.max(count + extra, capacity + capacity / 2 + 16)
        let moved = UnsafeMutablePointer<Value>.allocate(capacity: wanted)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = wanted
    }

    @inline(__always)
    mutating func append(_ value: Value) {
        reserve(1)
        base[count] = value
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<Value>, _ length: Int) {
        reserve(length)
        (base + count).update(from: source, count: length)
        count &+= length
    }

    /// Forgets the values; memory beyond `keep` values is given back.
    mutating func reset(keep: Int) {
        count = 0
        guard capacity > keep else { return }
        base.deallocate()
        base = .allocate(capacity: keep)
        capacity = keep
    }

    func release() { base.deallocate() }
}

extension Region<UInt8> {
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0, let start = bytes.baseAddress else { return }
        append(start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    func slice(_ offset: UInt32, _ length: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Int(offset), count: Int(length))
    }
}
