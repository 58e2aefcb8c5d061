/// Whether a list stays at its end while rows come: only what a person does ends that. Rows that are laid out move the end away, too.
public struct Following: Sendable, Equatable {
    public private(set) var isOn = true
    private var actedAt: Int64?
    private var attempts = 0

    public enum Event: Sendable {
        /// A key, a wheel or a pointer was used in the list.
        case acted
        /// What is in sight has changed.
        case moved(isAtEnd: Bool)
        /// The list is scrolled by the program, or to a row that a screen reader has selected.
        case scrolls(toEnd: Bool)
    }

    public init() {}

    /// - Parameter now: milliseconds that only go forward.
    /// - Returns: whether the list is to be scrolled to its end again.
    public mutating func handle(_ event: Event, at now: Int64) -> Bool {
        switch event {
        case .acted: actedAt = now
        case .scrolls(let toEnd): (isOn, actedAt) = (toEnd, nil)
        case .moved(isAtEnd: true): (isOn, attempts) = (true, 0)
        case .moved(isAtEnd: false):
            if let actedAt, now - actedAt < Self.causes { isOn = false }
            guard isOn, attempts < Self.mostAttempts else { return false }
            attempts += 1
            return true
        }
        return false
    }

    /// What is in sight changes within this time for what a person does, on a busy machine.
    private static let causes: Int64 = 1000
    /// A row that is higher than the list has its end never in sight.
    private static let mostAttempts = 10
}
