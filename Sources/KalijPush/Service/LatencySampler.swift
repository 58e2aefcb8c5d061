/// How long a provider takes to answer, lately.
struct LatencySampler: Sendable {
    private static let size = 64
    private var times: [Milliseconds] = []
    private var next = 0

    mutating func add(_ time: Milliseconds) {
        if times.count < Self.size {
            times.append(time)
        } else {
            times[next] = time
            next = (next + 1) % Self.size
        }
    }

    /// A time like one of the last; 0 before the first.
    func draw(_ random: inout SeededRandom) -> Milliseconds { times.randomElement(using: &random) ?? 0 }
}
