import KalijCore

/// How long a session waits for a response over its link.
package struct AckTimeouts {
    /// Seconds of silence after which the connection is closed.
    package let timeout: Double
    /// Whether the link is slow, and the process has time.
    package let isSlow: Bool
    private let answer: Double
    private let maxTimeout: Double

    /// - Parameters:
    ///   - quality: the link quality that the steps use; nil in a process whose time is short.
    ///   - longest: the longest silence, in seconds.
    package init(_ line: ClientStream, _ quality: LinkQuality?, longest: Double) {
        let measure = line.meter.measure
        timeout = min(longest, measure.silence(behind: line.unsent))
        (answer, isSlow) = (measure.letter, quality?.isSlow ?? false)
        self.maxTimeout = longest
    }

    /// The given number of seconds of silence, or more over a slow link.
    package func atLeast(_ seconds: Double) -> Double { min(maxTimeout, max(seconds, answer)) }
}
