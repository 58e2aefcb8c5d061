import KalijCore

/// Bounds the responses to the server's requests that the server has not accepted, for a server that sends requests and does not
/// read, or does not acknowledge. Until then the responses are stored in the database.
package struct OwedAnswers {
    /// How many responses may wait for the connection.
    package static let maxUnwritten = 500
    /// How many responses may be written without any acknowledgement: far more than a link can have in flight.
    package static let maxUnacknowledged = 10_000

    private var unwritten = 0
    private var unacknowledged = 0

    /// Whether the connection may be read.
    package var mayRead: Bool { unwritten < Self.maxUnwritten }
    /// Whether the server reads responses and acknowledges nothing.
    package var areRefused: Bool { unacknowledged >= Self.maxUnacknowledged }

    /// `number` responses were queued.
    package mutating func queued(_ number: Int, isManaged: Bool = true) {
        unwritten += number
        if isManaged { unacknowledged += number }
    }

    /// The whole queue was written.
    /// - Returns: whether to resume reading.
    package mutating func written() -> Bool {
        defer { unwritten = 0 }
        return !mayRead
    }

    /// The server has acknowledged `number` further stanzas.
    package mutating func acknowledged(_ number: UInt32) { unacknowledged = max(0, unacknowledged - Int(number)) }
}
