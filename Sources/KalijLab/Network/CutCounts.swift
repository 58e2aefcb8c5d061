/// How a proxy cuts a connection.
enum CutManner: CaseIterable, Sendable {
    /// Both sides see a reset at once.
    case reset
    /// Both sides see an end.
    case close
    /// Nothing gets through any more, and after a while both sides see a reset.
    case hold
}

/// Counts of connections cut by a proxy.
public struct CutCounts: Codable, Sendable, Equatable {
    /// With a reset.
    public var reset = 0
    /// With an end in order.
    public var closed = 0
    /// By blocking all bytes.
    public var held = 0

    /// The sum.
    public var total: Int { reset + closed + held }

    mutating func count(_ manner: CutManner) {
        switch manner {
        case .reset: reset += 1
        case .close: closed += 1
        case .hold: held += 1
        }
    }
}
