/// The events of a chunk, in order, until delivery. The parser releases the memory.
struct EventQueue {
    private var base: UnsafeMutablePointer<StreamParserEvent>
    private var capacity: Int
    private var first = 0
    private var end = 0

    /// Room kept from one chunk to the next.
    private static let usualCapacity = 64

    init() {
        capacity = EventQueue.usualCapacity
        base = .allocate(capacity: capacity)
    }

    mutating func append(_ event: consuming StreamParserEvent) {
        if end == capacity { move(to: capacity * 2) }
        (base + end).initialize(to: event)
        end &+= 1
    }

    /// Removes and returns the oldest event; nil if there is none.
    @inline(__always)
    mutating func next() -> sending StreamParserEvent? {
        guard first != end else {
            if end > 0 { removeAll() }
            return nil
        }
        first &+= 1
        // Moved out: only the queue referred to the event, since a parser keeps nothing of a finished tree.
        return UncheckedSending(audited: (base + (first &- 1)).move()).take()
    }

    mutating func removeAll() {
        (base + first).deinitialize(count: end - first)
        (first, end) = (0, 0)
        if capacity > EventQueue.usualCapacity { move(to: EventQueue.usualCapacity) }
    }

    private mutating func move(to wanted: Int) {
        let moved = UnsafeMutablePointer<StreamParserEvent>.allocate(capacity: wanted)
        moved.moveInitialize(from: base + first, count: end - first)
        base.deallocate()
        (base, capacity) = (moved, wanted)
        (first, end) = (0, end - first)
    }

    func release() {
        (base + first).deinitialize(count: end - first)
        base.deallocate()
    }
}
