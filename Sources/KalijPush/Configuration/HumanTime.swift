/// Durations in fpush's settings: "20s", "5m", "2h 30m", "1day".
enum HumanTime {
    private static let units: [(names: [String], milliseconds: Double)] = [
        (["nanos", "nsec", "ns"], 1e-6), (["usec", "us"], 1e-3), (["millis", "msec", "ms"], 1),
        (["seconds", "second", "secs", "sec", "s"], 1000), (["minutes", "minute", "mins", "min", "m"], 60_000),
        (["hours", "hour", "hrs", "hr", "h"], 3_600_000), (["days", "day", "d"], 86_400_000),
        (["weeks", "week", "w"], 604_800_000), (["months", "month", "M"], 2_630_016_000),
        (["years", "year", "y"], 31_557_600_000),
    ]

    /// Milliseconds, rounded down; nil for any other text, or for more than a hundred years.
    static func milliseconds(_ text: String) -> Int64? {
        var rest = text.unicodeScalars[...]
        var sum = 0.0
        var isEmpty = true
        while true {
            rest = rest.drop { $0 == " " }
            guard !rest.isEmpty else { break }
            let digits = rest.prefix { "0"..."9" ~= $0 }
            guard let number = Double(String(digits)) else { return nil }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let name = String(rest.prefix { $0.properties.isAlphabetic })
            guard let unit = units.first(where: { $0.names.contains(name) }) else { return nil }
            rest = rest.dropFirst(name.unicodeScalars.count)
            sum += number * unit.milliseconds
            isEmpty = false
        }
        return isEmpty || sum > 100 * 31_557_600_000 ? nil : Int64(sum)
    }
}
