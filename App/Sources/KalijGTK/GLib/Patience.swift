/// A soft timeout of a request to another process: the response is handled after it, too.
final class Patience {
    private var isOver = false

    /// - Parameter late: called if ``end()`` was not called in time.
    init(milliseconds: UInt32 = 5_000, late: @escaping () -> Void) {
        after(milliseconds) { if !self.isOver { late() } }
    }

    func end() { isOver = true }
}
