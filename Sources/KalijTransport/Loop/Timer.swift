/// Work that an ``EventLoop`` does once, at a time.
public final class Timer {
    let deadline: Double
    let order: UInt64
    var body: (() -> Void)?
    private weak var loop: EventLoop?

    init(loop: EventLoop?, deadline: Double, order: UInt64, body: @escaping () -> Void) {
        self.loop = loop
        self.deadline = deadline
        self.order = order
        self.body = body
    }

    /// Forgets the timer: no call, and no wake-up of the process.
    public func cancel() {
        guard body != nil else { return }
        body = nil
        loop?.timers.remove(self)
    }
}

/// Timers in the order of their times, and for the same time in the order of making.
struct TimerQueue {
    // Latest first, so that the next timer is taken off the end. A process has tens of timers, not thousands.
    private var timers: [Timer] = []

    var next: Timer? { timers.last }
    var count: Int { timers.count }

    mutating func insert(_ timer: Timer) {
        timers.insert(timer, at: position(of: timer))
    }

    mutating func remove(_ timer: Timer) {
        let index = position(of: timer)
        if index < timers.count, timers[index] === timer { timers.remove(at: index) }
    }

    /// Takes off the next timer if due.
    mutating func popDue(_ now: Double) -> Timer? {
        guard let timer = timers.last, timer.deadline <= now else { return nil }
        return timers.removeLast()
    }

    private func position(of timer: Timer) -> Int {
        var low = 0
        var high = timers.count
        while low < high {
            let middle = (low + high) / 2
            let other = timers[middle]
            if (other.deadline, other.order) > (timer.deadline, timer.order) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
