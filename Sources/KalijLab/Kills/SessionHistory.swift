/// The sessions of one account over a whole run, as the server logged them.
struct SessionHistory {
    private let seen: [SessionWatch.Seen]

    init(_ seen: [SessionWatch.Seen]) {
        self.seen = seen
    }

    var resumptions: Int { seen.count { $0.event.isResumption } }
    var binds: Int { seen.count { $0.event == .bound } }

    /// The time from the end of each connection to the next session, summed up.
    var secondsOffline: Double {
        var total = Duration.zero
        var since: ContinuousClock.Instant?
        for one in seen {
            switch one.event {
            case .hibernated: since = since ?? one.at
            case .bound, .resumed:
                if let start = since { total += one.at - start }
                since = nil
            case .refused: break
            }
        }
        return Double(total.components.seconds) + Double(total.components.attoseconds) / 1e18
    }

    /// What happened in an interval.
    func events(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) -> [SessionEvent] {
        seen.filter { $0.at >= start && $0.at <= end }.map(\.event)
    }

    /// Whether the connection that a kill ended had stanzas that the client had not acknowledged.
    ///
    /// The server sees the end of the connection within a moment of the kill; how much was open then is told by the
    /// next resumption.
    func hadUnacknowledged(at kill: ContinuousClock.Instant) -> Bool {
        guard
            let end = seen.firstIndex(where: {
                $0.event == .hibernated && $0.at >= kill && $0.at < kill + .milliseconds(250)
            })
        else { return false }
        guard case .resumed(_, let open?) = seen[end...].first(where: { $0.event.startsConnection })?.event else {
            return false
        }
        return open > 0
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
