/// Whether a list stays at its end while rows are added: only a user's action ends that. The layout of rows may also move the end
/// out of sight.
public struct Following: Sendable, Equatable {
    public private(set) var isOn = true
    private var actedAt: Int64?
    private var attempts = 0

    public enum Event: Sendable {
        /// A key, a wheel or a pointer was used in the list.
        case acted
        /// The visible part has changed.
        case moved(isAtEnd: Bool)
        /// The program scrolls the list, or a screen reader has selected a row.
        case scrolls(toEnd: Bool)
    }

    public init() {}

    /// - Parameter now: milliseconds of a monotonic clock.
    /// - Returns: whether to scroll the list to its end again.
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

    /// The time within which a user's action changes the visible part, on a busy machine, in milliseconds.
    private static let causes: Int64 = 1000
    /// The limit for a row that is higher than the list, whose end is never visible.
    private static let mostAttempts = 10
}
