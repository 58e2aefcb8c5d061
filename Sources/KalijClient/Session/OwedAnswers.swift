/// Bounds the responses to the server's requests that the server has not accepted, for a server that sends requests and does not
/// read, or does not acknowledge. Until then the responses are stored in the database.
struct OwedAnswers {
    /// How many responses may wait for the connection.
    static let mostUnwritten = 500
    /// How many responses may be written without any acknowledgement: far more than a link can have in flight.
    static let mostUnacknowledged = 10_000

    private var unwritten = 0
    private var unacknowledged = 0

    /// Whether the connection may be read.
    var mayRead: Bool { unwritten < Self.mostUnwritten }
    /// Whether the server reads responses and acknowledges nothing.
    var areRefused: Bool { unacknowledged >= Self.mostUnacknowledged }

    /// `number` responses were queued.
    mutating func queued(_ number: Int, isManaged: Bool = true) {
        unwritten += number
        if isManaged { unacknowledged += number }
    }

    /// The whole queue was written.
    /// - Returns: whether to resume reading.
    mutating func written() -> Bool {
        defer { unwritten = 0 }
        return !mayRead
    }

    /// The server has acknowledged `number` further stanzas.
    mutating func acknowledged(_ number: UInt32) { unacknowledged = max(0, unacknowledged - Int(number)) }
}
