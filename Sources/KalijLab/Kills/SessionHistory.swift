/// The sessions of an account over a whole run, by the server's log.
struct SessionHistory {
    private let seen: [SeenEvent]

    init(_ seen: [SeenEvent]) {
        self.seen = seen
    }

    var resumptions: Int { seen.count { $0.event.isResumption } }
    var binds: Int { seen.count { $0.event == .bound } }

    /// Why each session except the last was lost: for each bind after the first, the server's log since the connection
    /// before.
    var losses: SessionLosses {
        var losses = SessionLosses()
        var cause: LossCause?
        var isFirst = true
        for one in seen {
            switch one.event {
            case .lost(let why): cause = why
            case .resumed: cause = nil
            case .bound:
                if !isFirst { losses.count(cause) }
                (cause, isFirst) = (nil, false)
            case .hibernated, .refused: break
            }
        }
        return losses
    }

    /// The time from the end of each connection to the next session, summed up.
    var secondsOffline: Double {
        var total = 0.0
        var since: Double?
        for one in seen {
            switch one.event {
            case .hibernated: since = since ?? one.at
            case .bound, .resumed:
                if let start = since { total += one.at - start }
                since = nil
            case .refused, .lost: break
            }
        }
        return total
    }

    /// The events in an interval.
    func events(from start: Double, to end: Double) -> [SessionEvent] {
        seen.filter { $0.at >= start && $0.at <= end }.map(\.event)
    }

    /// Whether the connection ended by a kill had stanzas that the client had not acknowledged.
    ///
    /// The server detects the end of the connection within a moment of the kill; the next resumption shows how many stanzas were
    /// unacknowledged then.
    /// - Parameter arrivals: when the server archived messages for the account, in seconds since 1970; needed where the log does
    ///   not record which stanzas were queued before the end of the connection.
    func hadUnacknowledged(at kill: Double, arrivals: [Double]) -> Bool {
        guard
            let end = seen.firstIndex(where: { $0.event == .hibernated && $0.at >= kill && $0.at < kill + 0.25 }),
            let next = seen[end...].first(where: { $0.event.startsConnection }),
            case .resumed(let least?, let queued) = next.event
        else { return false }
        let since = arrivals.count { $0 > seen[end].at && $0 <= next.at }
        return max(least, (queued ?? 0) - since) > 0
    }
}

extension SessionEvent {
    var isResumption: Bool {
        if case .resumed = self { true } else { false }
    }

    fileprivate var startsConnection: Bool {
        isResumption || self == .bound
    }
}

/// The number of lost sessions, by the causes in the server's log.
public struct SessionLosses: Codable, Sendable, Equatable {
    /// Not resumed in time.
    public var expired = 0
    /// The server was ended with SIGTERM and started again.
    public var restarted = 0
    /// More stanzas were unacknowledged than the server keeps.
    public var queueLimit = 0
    /// The log does not show the cause.
    public var otherwise = 0

    /// The sum.
    public var total: Int { expired + restarted + queueLimit + otherwise }

    mutating func count(_ cause: LossCause?) {
        switch cause {
        case .expired: expired += 1
        case .restarted: restarted += 1
        case .queueLimit: queueLimit += 1
        case nil: otherwise += 1
        }
    }

    static func += (sum: inout SessionLosses, more: SessionLosses) {
        sum.expired += more.expired
        sum.restarted += more.restarted
        sum.queueLimit += more.queueLimit
        sum.otherwise += more.otherwise
    }
}
