import KalijLab

/// The counters of kalij-push, read from its page `/metrics` as by an operator's Prometheus.
struct DemoCounters: Equatable {
    var sent = 0
    var queued = 0
    var covered = 0

    /// The number of publishes with an outcome.
    var total: Int { sent + queued + covered }

    static func read(port: Int, _ laboratory: Laboratory) async throws -> DemoCounters {
        let request = """
            import sys, urllib.request
            sys.stdout.write(urllib.request.urlopen("http://127.0.0.1:%s/metrics" % sys.argv[1], timeout=5).read().decode())
            """
        let text = try await laboratory.run("/usr/bin/python3", ["-c", request, "\(port)"])
        func count(_ outcome: String) -> Int {
            let start = "kalij_push_pushes_total{module=\"demo\",outcome=\"\(outcome)\"} "
            let line = text.split(separator: "\n").first { $0.hasPrefix(start) }
            return line.flatMap { Int($0.dropFirst(start.count)) } ?? 0
        }
        return DemoCounters(sent: count("delivered"), queued: count("queued"), covered: count("covered"))
    }

    /// The outcome of a publish between the earlier counters and these.
    func verdict(since before: DemoCounters) -> String {
        if sent > before.sent { return "pushed at once" }
        if queued > before.queued {
            return "queued: a push went out less than 20 s ago, so this one waits until they are over"
        }
        return "discarded: the push that waits covers it"
    }
}
