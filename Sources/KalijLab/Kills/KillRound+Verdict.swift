extension KillRound {
    /// A last life without a kill: fetches and sends the remaining messages. Where no archive gives the number of messages to
    /// fetch, the number of messages that the server has lost cannot be determined: then the life ends once all is sent and
    /// nothing was received for 10 s.
    func drain(offered: Int) async throws {
        let accepted = tally.counts.accepted.count
        // A server that was ended may have dropped the messages sent just before.
        let expected = tally.counts.restarts > 0 ? try await archivedForAlice() : offered
        let process = try kalij.run()
        var (changed, last) = (ContinuousClock.now, 0)
        while process.ending() == nil {
            var patience = hungAfter
            if let counts = try? await table.counts(), let queued = try? await table.queued(),
                queued == 0, counts.unsettled == 0, counts.sent >= accepted
            {
                if counts.received >= expected { break }
                if options.archive != .always { patience = 10 }
            }
            if let done = try? await table.progress(), done != last { (changed, last) = (ContinuousClock.now, done) }
            guard ContinuousClock.now < changed + .seconds(patience) else { break }
            try await sleep(for: .milliseconds(100))
        }
        if let ending = process.ending() {
            throw LaboratoryError("the last kalij run ended with \(ending): \(kalij.errors(of: "run"))")
        }
        await process.stop(seconds: hungAfter)
    }

    /// How many different messages of the other side the server has archived.
    private func archivedForAlice() async throws -> Int {
        Set(try await archive(of: alice).compactMap { numberIn($0.body, label: "m") }).count
    }

    /// Reads Alice's archive with the independent client, whose own session is none of Kalij's.
    private func archive(of alice: Peer) async throws -> [ArchiveEntry] {
        watch.ignoreBinds(true)
        let entries = try await alice.archive()
        try await sleep(for: .milliseconds(50))  // the log is read every 5 ms
        watch.ignoreBinds(false)
        return entries
    }

    func gather(offered: Int, heard: [String]) async throws -> Evidence {
        let counts = tally.counts
        return Evidence(
            ownArchive: try await archive(of: alice), peerArchive: try await bob.archive(),
            offered: offered, received: try await table.messages("in"), heard: heard, accepted: counts.accepted,
            uncertain: counts.uncertain, unknown: try await table.unknown(), isArchived: options.archive == .always)
    }

    func summarize(_ evidence: Evidence, seconds: Double) -> KillResult {
        let counts = tally.counts
        var result = KillResult(server: options.server, seed: options.seed, archive: options.archive)
        result.accounts = 1
        result.seconds = seconds
        result.offered = evidence.offered
        result.incoming = evidence.incoming()
        result.outgoing = evidence.outgoing()
        result.kills = counts.lives.count
        result.sendKills = counts.sendKills
        result.sendFailures = counts.sendFailures
        result.crashes = counts.crashes
        result.lossesWithUnacknowledged = counts.lossesWithUnacknowledged
        result.serverRestarts = counts.restarts
        result.killsWithUnacknowledgedOut = counts.lives.count { ($0.queued ?? 0) > 0 }
        addSessions(to: &result, arrivals: arrivals(evidence))
        if !result.isClean { result.failedAccounts = [alice.address] }
        return result
    }

    /// When messages were archived for Alice, in seconds since 1970; ejabberd's archive ids are the time in microseconds.
    private func arrivals(_ evidence: Evidence) -> [Double] {
        guard options.server == .ejabberd else { return [] }
        return evidence.ownArchive.compactMap { Double($0.archiveID) }.map { $0 / 1e6 }
    }

    /// Adds the sessions in the server's log.
    private func addSessions(to result: inout KillResult, arrivals: [Double]) {
        let lives = tally.counts.lives
        let sessions = SessionHistory(watch.events)
        result.killsWithUnacknowledgedIn = lives.count {
            sessions.hadUnacknowledged(at: $0.killed, arrivals: arrivals)
        }
        // The first life has the first bind.
        for life in lives.dropFirst() {
            result.starts += 1
            let events = sessions.events(from: life.began, to: life.killed)
            if events.contains(where: { $0.isResumption }) {
                result.startsResumed += 1
            } else if events.contains(.bound) {
                result.startsBound += 1
            }
        }
        result.resumed = sessions.resumptions
        result.bound = sessions.binds - 1
        result.losses = sessions.losses
        result.secondsOffline = sessions.secondsOffline
    }
}
