/// Numbers of events in a window of time that moves on in eighths.
struct SlidingWindow: Sendable {
    struct Counts: Sendable {
        /// What the domain's server has published itself, well formed or not.
        var publishes: Int32 = 0
        var malformed: Int32 = 0
        /// Pushes that the provider has judged.
        var judged: Int32 = 0
        var dead: Int32 = 0
        /// The same of tokens without an earlier success.
        var newJudged: Int32 = 0
        var newDead: Int32 = 0

        static func += (sum: inout Counts, part: Counts) { sum.add(part, 1) }
        static func -= (sum: inout Counts, part: Counts) { sum.add(part, -1) }

        private mutating func add(_ other: Counts, _ sign: Int32) {
            publishes &+= sign &* other.publishes
            malformed &+= sign &* other.malformed
            judged &+= sign &* other.judged
            dead &+= sign &* other.dead
            newJudged &+= sign &* other.newJudged
            newDead &+= sign &* other.newDead
        }
    }

    private var parts = [Counts](repeating: Counts(), count: 8)
    private var epoch: Milliseconds = 0
    private(set) var sum = Counts()

    /// Counts an event.
    mutating func add(_ event: Counts, window: Milliseconds, now: Milliseconds) {
        moveOn(window, now)
        parts[Int(epoch & 7)] += event
        sum += event
    }

    /// Forgets what is older than the window.
    mutating func moveOn(_ window: Milliseconds, _ now: Milliseconds) {
        let current = now / max(1, window / 8)
        guard current != epoch else { return }
        if current - epoch >= 8 || current < epoch {
            self = SlidingWindow()
        } else {
            for old in (epoch + 1)...current {
                sum -= parts[Int(old & 7)]
                parts[Int(old & 7)] = Counts()
            }
        }
        epoch = current
    }

    mutating func clear() {
        parts = [Counts](repeating: Counts(), count: 8)
        sum = Counts()
    }
}
