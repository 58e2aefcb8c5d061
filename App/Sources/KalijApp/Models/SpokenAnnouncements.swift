/// What a screen reader is to say of arriving messages: each, and more than three within two seconds as a number.
public struct SpokenAnnouncements: Sendable {
    private var spoken: [Int64] = []
    private var held = 0
    private var end: Int64?

    static let most = 3
    static let milliseconds: Int64 = 2000

    public init() {}

    /// A message has come.
    /// - Parameter now: milliseconds of a steady clock.
    /// - Returns: what to say now; and when to ask ``due(_:)``, if more is held back.
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

    /// What was held back.
    public mutating func due(_ now: Int64) -> String? {
        guard let end, now >= end, held > 0 else { return nil }
        let count = held
        (held, self.end, spoken) = (0, nil, [now])
        return Words.arrived(count)
    }
}
