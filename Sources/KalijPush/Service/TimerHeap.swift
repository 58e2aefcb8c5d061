/// Ids with their times: a heap, earliest first, and in the order of arrival for the same time.
struct TimerHeap: Sendable {
    private var heap: [(at: Milliseconds, order: UInt64, id: UInt64)] = []
    private var order: UInt64 = 0

    var next: Milliseconds? { heap.first?.at }

    mutating func add(_ id: UInt64, at time: Milliseconds) {
        order += 1
        heap.append((time, order, id))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(child, parent) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes off the next id if due.
    mutating func dequeue(_ now: Milliseconds) -> UInt64? {
        guard let first = heap.first, first.at <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return first.id
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        (heap[one].at, heap[one].order) < (heap[other].at, heap[other].order)
    }
}
