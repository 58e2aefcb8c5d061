/// Coalesces the announcements of arriving messages: three within two seconds are announced individually, further ones as a
/// number.
public struct SpokenAnnouncements: Sendable {
    private var spoken: [Int64] = []
    private var held = 0
    private var end: Int64?

    static let most = 3
    static let milliseconds: Int64 = 2000

    public init() {}

    /// A message has arrived.
    /// - Parameter now: milliseconds of a monotonic clock.
    /// - Returns: the text to announce now, and in how many milliseconds to call ``due(_:)`` if messages are held back.
    public mutating func arrived(_ text: String, now: Int64) -> (text: String?, dueIn: Int64?) {
        spoken.removeAll { $0 <= now - Self.milliseconds }
        if held == 0, spoken.count < Self.most {
            spoken.append(now)
            return (text, nil)
        }
        held += 1
        if let end { return (nil, max(1, end - now)) }
        end = now + Self.milliseconds
        return (nil, Self.milliseconds)
    }

    /// The announcement of the messages that were held back.
    public mutating func due(_ now: Int64) -> String? {
        guard let end, now >= end, held > 0 else { return nil }
        let count = held
        (held, self.end, spoken) = (0, nil, [now])
        return Words.arrived(count)
    }
}
