extension PushServer {
    /// Metrics for an operator, in Prometheus' text format.
    /// - Parameter version: of the command.
    public func metrics(version: String) -> String {
        var text = MetricsText()
        text.family("kalij_push_build_info", "gauge", "1, with the version.")
        text.sample("kalij_push_build_info", [("version", version)], 1)
        ProcessFigures.add(to: &text)
        let counters = core.counters
        text.single("kalij_push_publishes_total", "counter", "Publishes received.", counters.publishes)
        text.family("kalij_push_refused_total", "counter", "Publishes without a push, by reason.")
        for (reason, count) in [
            ("malformed", counters.malformed), ("unusable", counters.unusable),
            ("domain_blocked", counters.domainBlocked),
            ("new_tokens", counters.refusedNewTokens), ("limit", counters.overLimit), ("late", counters.answeredLate),
        ] { text.sample("kalij_push_refused_total", [("reason", reason)], count) }
        addPushes(&text)
        text.single("kalij_push_in_flight", "gauge", "Pushes on their way.", core.inFlight)
        text.single("kalij_push_queued", "gauge", "Pushes that wait.", core.queueLength)
        text.single("kalij_push_blocked", "gauge", "Blocked tokens.", core.blocks.tokens.count)
        text.single("kalij_push_blocked_domains", "gauge", "Blocked domains.", core.blocks.domains.count)
        text.single("kalij_push_limited_tokens", "gauge", "Tokens within their window.", core.limitedTokens)
        text.single("kalij_push_known_tokens", "gauge", "Tokens with a success not long ago.", core.known.count)
        text.single("kalij_push_domains", "gauge", "Domains with publishes not long ago.", core.domains.count)
        text.single("kalij_push_component_up", "gauge", "Whether the component is connected.", isConnected ? 1 : 0)
        text.single(
            "kalij_push_database_up", "gauge", "Whether the database can be used.", databaseProblem == nil ? 1 : 0)
        text.single(
            "kalij_push_database_backlog", "gauge", "Changes that wait for the database.", keeper?.backlog ?? 0)
        addModules(&text)
        core.sharing?.addMetrics(&text, core.blocks, now: clock.now)
        return text.text
    }

    private func addPushes(_ text: inout MetricsText) {
        text.family("kalij_push_pushes_total", "counter", "Outcomes of publishes and pushes, by module.")
        for name in core.settings.modules.keys.sorted() {
            let module = core.counters.modules[name] ?? Counters.Module()
            let outcomes = [
                ("delivered", module.delivered), ("dead", module.dead), ("bad", module.bad),
                ("doubted", module.doubted), ("fault", module.fault), ("too_many", module.tooMany),
                ("transient", module.transient), ("retried", module.retried), ("queued", module.queued),
                ("covered", module.covered), ("blocked", module.blocked), ("hearsay", module.hearsay),
                ("held", module.held),
                ("dropped", module.dropped),
            ]
            for (outcome, count) in outcomes {
                text.sample("kalij_push_pushes_total", [("module", name), ("outcome", outcome)], count)
            }
        }
    }

    private func addModules(_ text: inout MetricsText) {
        let names = core.settings.modules.keys.sorted()
        text.family("kalij_push_module_healthy", "gauge", "Whether the provider takes a module's pushes.")
        for name in names {
            text.sample("kalij_push_module_healthy", [("module", name)], core.health(of: name)?.problem == nil ? 1 : 0)
        }
        text.family("kalij_push_last_success_seconds", "gauge", "When a push was taken last, since 1970.")
        for name in names {
            if let last = core.health(of: name)?.lastSuccess {
                text.sample("kalij_push_last_success_seconds", [("module", name)], last / 1000)
            }
        }
        text.family("kalij_push_provider_connections", "gauge", "Connections to the provider.")
        for name in names {
            text.sample("kalij_push_provider_connections", [("module", name)], providers[name]?.connections ?? 0)
        }
        text.services(names.compactMap { name in providers[name]?.services.map { (name, $0) } })
        text.family("kalij_push_certificate_end_seconds", "gauge", "When a certificate runs out, since 1970.")
        for name in names {
            for (whose, end) in [("ours", providers[name]?.credentialsEnd), ("provider", providers[name]?.serviceEnd)] {
                if let end {
                    text.sample("kalij_push_certificate_end_seconds", [("module", name), ("whose", whose)], end)
                }
            }
        }
        text.family("kalij_push_provider_seconds", "histogram", "Seconds until the provider's answer.")
        for name in names {
            text.histogram("kalij_push_provider_seconds", [("module", name)], latencies[name] ?? Histogram())
        }
    }

    /// Problems, and whether one of them keeps this node from working: no component, no database. A provider that takes
    /// nothing takes nothing of other nodes either.
    public var problems: (isReady: Bool, lines: [String]) {
        var problems: [String] = []
        if !isLoaded {
            problems.append("starting: the database is being read")
        } else if !isConnected {
            problems.append("component: not connected" + (linkFailure.map { ": \($0)" } ?? ""))
        }
        if let databaseProblem { problems.append("database: \(databaseProblem)") }
        let isReady = problems.isEmpty
        for name in core.settings.modules.keys.sorted() {
            if let problem = core.health(of: name)?.problem { problems.append("\(name): \(problem)") }
        }
        return (isReady, problems)
    }

    private var databaseProblem: String? {
        keeper?.failure.map { "cannot be written: \($0)" } ?? loadFailure.map { "cannot be read: \($0)" }
    }
}

extension MetricsText {
    fileprivate mutating func services(_ modules: [(name: String, services: ServiceFigures)]) {
        guard !modules.isEmpty else { return }
        family("kalij_push_services", "gauge", "Push services that devices have named, by state.")
        for (name, services) in modules {
            for (state, count) in [("known", services.known), ("resting", services.resting), ("held", services.held)] {
                sample("kalij_push_services", [("module", name), ("state", state)], count)
            }
        }
    }
}
