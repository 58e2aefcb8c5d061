/// The answers to the server's requests that the server has not taken: a bound for a server that asks and does not read, or does not
/// acknowledge. The answers lie in the database until then.
struct OwedAnswers {
    /// How many answers may wait for the connection.
    static let mostUnwritten = 500
    /// How many answers may be written without an acknowledgement of anything: far more than any link has under way.
    static let mostUnacknowledged = 10_000

    private var unwritten = 0
    private var unacknowledged = 0

    /// Whether more may be read.
    var mayRead: Bool { unwritten < Self.mostUnwritten }
    /// Whether the server takes answers and acknowledges nothing.
    var areRefused: Bool { unacknowledged >= Self.mostUnacknowledged }

    /// So many answers were queued.
    mutating func queued(_ number: Int, isManaged: Bool = true) {
        unwritten += number
        if isManaged { unacknowledged += number }
    }

    /// The whole queue is written.
    /// - Returns: whether reading goes on now.
    mutating func written() -> Bool {
        defer { unwritten = 0 }
        return !mayRead
    }

    /// The server has so many stanzas more.
    mutating func acknowledged(_ number: UInt32) { unacknowledged = max(0, unacknowledged - Int(number)) }
}
