import FoundationEssentials

extension KillResult {
    /// The figures as a table for people.
    public func table() -> [String] {
        var messages = TextTable()
        messages.add("messages", "sent", "stored", "lost", "twice", "out of order")
        messages.add(
            "bob to alice (kalij run)", "\(incoming.expected)", "\(incoming.found)", "\(incoming.lost)",
            "\(incoming.twice)", "\(incoming.outOfOrder)")
        messages.add(
            "alice to bob (kalij send)", "\(outgoing.expected + outgoing.unconfirmed)", "\(outgoing.found)",
            "\(outgoing.lost)",
            "\(outgoing.twice)", "\(outgoing.outOfOrder)")
        let lines = [""] + messages.lines() + [""] + lives().lines() + [""]
        return lines + remarks()
    }

    private func lives() -> TextTable {
        var lives = TextTable()
        lives.add("kalij run killed", "\(kills)")
        lives.add("  while stanzas sent were not acknowledged", count(killsWithUnacknowledgedOut, of: kills))
        lives.add("  while stanzas received were not acknowledged", count(killsWithUnacknowledgedIn, of: kills))
        lives.add("kalij send killed", "\(sendKills)")
        lives.add("starts that resumed the session", count(startsResumed, of: starts))
        lives.add("starts that had to bind anew", count(startsBound, of: starts))
        lives.add("starts killed before either", count(shares.startsCutShort, of: starts))
        lives.add("sessions resumed, with those of kalij send", "\(resumed)")
        lives.add("sessions bound anew, with those of kalij send", "\(bound)")
        if losses.total > 0 {
            lives.add("  because they had expired", "\(losses.expired)")
            lives.add("  because the server was ended (\(serverRestarts) times)", "\(losses.restarted)")
            lives.add("  because the server's queue was too long", "\(losses.queueLimit)")
            lives.add("  while stanzas sent were not acknowledged", "\(lossesWithUnacknowledged)")
            if losses.otherwise > 0 { lives.add("  for another reason", "\(losses.otherwise)") }
        }
        if cuts.total > 0 {
            lives.add("connections cut with a reset", "\(cuts.reset)")
            lives.add("connections cut with an end", "\(cuts.closed)")
            lives.add("connections held up, then reset", "\(cuts.held)")
        }
        lives.add("time offline", "\(rounded(secondsOffline)) s of \(rounded(seconds)) s")
        if accounts > 1 { lives.add("pairs of accounts", "\(accounts)") }
        return lives
    }

    /// A JSON object on one line, with the derived figures.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(Report(result: self)), as: UTF8.self)
    }

    private func remarks() -> [String] {
        var lines: [String] = []
        if incoming.invented + outgoing.invented > 0 {
            lines.append("  \(incoming.invented + outgoing.invented) messages that nobody sent")
        }
        if incoming.unarchived + outgoing.unarchived > 0 {
            lines.append("  \(incoming.unarchived + outgoing.unarchived) delivered but not archived by the server")
        }
        if droppedByServer > 0 {
            lines.append("  \(droppedByServer) of bob's that the server had not archived when it was ended")
        }
        if outgoing.unknown > 0 {
            lines.append("  \(outgoing.unknown) of alice's that did not arrive are reported as of unknown outcome")
        }
        if incoming.undelivered > 0 {
            lines.append(
                "  \(incoming.undelivered) of bob's that the server dropped with a lost session, and had not archived")
        }
        if outgoing.undelivered > 0 {
            lines.append(
                "  \(outgoing.undelivered) of alice's that the server had archived for her alone when it was ended")
        }
        if !failedAccounts.isEmpty {
            lines.append("  accounts that do not agree: \(failedAccounts.joined(separator: " "))")
        }
        if crashes > 0 { lines.append("  kalij run ended by itself \(crashes) times") }
        if sendFailures > 0 { lines.append("  kalij send failed by itself \(sendFailures) times") }
        lines.append(
            (isClean ? "  Nothing lost\(silently), nothing twice, nothing out of order: " : "  FAILED: ")
                + (archive == .always ? "the archive of \(server.rawValue)" : "what bob has received")
                + (isClean ? " agrees. Seed \(seed)." : " does not agree. Seed \(seed)."))
        return lines
    }

    private var silently: String { archive == .always ? "" : " silently" }

    private func count(_ part: Int, of whole: Int) -> String {
        whole == 0 ? "\(part)" : "\(part) (\(part * 100 / whole) %)"
    }

    private func rounded(_ seconds: Double) -> String {
        "\(Int(seconds)).\(Int((seconds * 10).truncatingRemainder(dividingBy: 10)))"
    }
}

/// The result with the figures derived from it.
private struct Report: Encodable {
    let result: KillResult

    enum CodingKeys: String, CodingKey {
        case clean, droppedByServer, startsCutShort, resumedShare, resumedShareOfSessions, unacknowledgedOutShare,
            unacknowledgedInShare
    }

    func encode(to encoder: any Encoder) throws {
        try result.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(result.isClean, forKey: .clean)
        try container.encode(result.droppedByServer, forKey: .droppedByServer)
        try container.encode(result.shares.startsCutShort, forKey: .startsCutShort)
        try container.encode(result.shares.resumed, forKey: .resumedShare)
        try container.encode(result.shares.resumedOfSessions, forKey: .resumedShareOfSessions)
        try container.encode(result.shares.unacknowledgedOut, forKey: .unacknowledgedOutShare)
        try container.encode(result.shares.unacknowledgedIn, forKey: .unacknowledgedInShare)
    }
}
