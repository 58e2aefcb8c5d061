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

/// Negative if the first differing one of `count` bytes is less on the left, 0 if none differs.
func orderMemory(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Int32 {
    memcmp(left, right, count)
}

/// Copies `count` bytes into room for at least 32. Up to 32 bytes are copied as 32, without a call, if as many may be
/// read: `readable` are addresses around `source` or elsewhere.
@inline(__always)
func copyBytes(
    _ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, _ count: Int,
    readable: Range<UInt>
) {
    let address = UInt(bitPattern: source)
    guard count <= 32, address >= readable.lowerBound, address &+ 32 <= readable.upperBound else {
        return target.update(from: source, count: count)
    }
    let (from, into) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(target))
    let first = from.loadUnaligned(as: SIMD16<UInt8>.self)
    let second = (from + 16).loadUnaligned(as: SIMD16<UInt8>.self)
    into.storeBytes(of: first, as: SIMD16<UInt8>.self)
    (into + 16).storeBytes(of: second, as: SIMD16<UInt8>.self)
}

/// A growing run of trivial values. The owner releases the memory.
struct Region<Value: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<Value>
    private(set) var capacity: Int
    var count: Int

    init(capacity: Int) {
        base = Region.allocate(Swift.max(capacity, 1))
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
        // The system moves large blocks without a second copy in memory.
        // traps: as every allocation of Swift's own does without memory
        guard let moved = realloc(base, wanted * MemoryLayout<Value>.stride) else { fatalError("out of memory") }
        base = moved.bindMemory(to: Value.self, capacity: wanted)
        capacity = wanted
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Value> {
        // traps: as every allocation of Swift's own does without memory
        guard let memory = malloc(capacity * MemoryLayout<Value>.stride) else { fatalError("out of memory") }
        return memory.bindMemory(to: Value.self, capacity: capacity)
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
        free(base)
        base = Region.allocate(keep)
        capacity = keep
    }

    func release() { free(base) }
}

extension Region<UInt8> {
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0, let start = bytes.baseAddress else { return }
        append(start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// Appends bytes, among `readable` bytes or anywhere else.
    @inline(__always)
    mutating func append(
        _ source: UnsafePointer<UInt8>, _ length: Int, readable: Range<UInt>
    ) {
        reserve(length &+ 32)
        copyBytes(source, to: base + count, length, readable: readable)
        count &+= length
    }

    func slice(_ offset: UInt32, _ length: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Int(offset), count: Int(length))
    }
}
