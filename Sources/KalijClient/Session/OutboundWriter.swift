import KalijStore

/// How far the queue has been written on the present connection.
struct OutboundWriter {
    /// The last entry written.
    private(set) var position: Int64 = 0
    /// How many written entries the server has not acknowledged.
    private(set) var outstanding = 0
    /// Whether an acknowledgement was requested and has not come.
    var isRequested = false
    /// Whether the queue may hold entries behind ``position``.
    var mayHaveMore = true

    mutating func wrote(_ entries: [OutboundQueue.Entry]) {
        guard let last = entries.last else { return }
        position = last.id
        outstanding += entries.count
    }

    mutating func acknowledged(_ number: UInt32) {
        outstanding = max(0, outstanding - Int(number))
        isRequested = false
    }
}
