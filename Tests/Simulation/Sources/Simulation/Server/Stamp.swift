import FoundationEssentials

/// Times in the notation of XEP-0082.
enum Stamp {
    static func text(_ milliseconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        return date.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
    }

    static func milliseconds(_ text: String) -> Int64? {
        let plain = try? Date(text, strategy: .iso8601)
        let date = plain ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        return date.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) }
    }
}
