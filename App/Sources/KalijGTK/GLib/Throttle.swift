/// Runs an action at once, and once more after an interval if it was requested in the meantime.
final class Throttle {
    private let interval: UInt32
    private var (isWaiting, isDue) = (false, false)

    /// - Parameter interval: the shortest time between two runs, in milliseconds.
    init(interval: UInt32) { self.interval = interval }

    func run(_ action: @escaping () -> Void) {
        guard !isWaiting else {
            isDue = true
            return
        }
        isWaiting = true
        action()
        after(interval) { [weak self] in
            guard let self else { return }
            isWaiting = false
            guard isDue else { return }
            isDue = false
            run(action)
        }
    }
}
