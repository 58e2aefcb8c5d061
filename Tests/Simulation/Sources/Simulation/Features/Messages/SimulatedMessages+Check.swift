import KalijStore

extension SimulatedMessages {
    /// Promise 2: every accepted message reached the server, once, and in order. A message that was perhaps accepted did so if
    /// stored.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        let rows = try StoredMessage.all(in: database, server)
        // Where the archive can prove nothing, a message sent in a lost session is reported, and not sent again.
        let unsettled = rows.filter {
            $0.isUnsettled
                && Self.mayBeUnknown(isLate: simulation.record.acceptedLate.contains($0.body ?? $0.id), in: simulation)
        }
        let unknown = Set(unsettled.compactMap(\.body))
        simulation.world.counts.unknown += unknown.count
        // With every session resumed, no outcome may be unknown. A killed process may have told nobody of a new session, so the
        // server's count of sessions decides.
        let isLost = server.begun > 1
        let accepted = simulation.record.accepted
        let taken = taken.map(\.body)
        // A text that the user sends again may arrive once more, and in a later place.
        let repetitions = try server.feature(SimulatedResending.self).repetitions(in: database)
        var violations: [Violation] = []
        var count: [String: Int] = [:]
        for body in taken { count[body, default: 0] += 1 }
        let stored = rows.filter { $0.direction == "out" && ($0.body ?? "").hasPrefix("out-") }.compactMap(\.body)
        for body in Set(accepted + stored).sorted()
        where !(1...(1 + (repetitions[body] ?? 0))).contains(count[body] ?? 0)
            && !(unknown.contains(body) && count[body] == nil)
        {
            violations.append(Violation(.promise2, "\(body) reached the server \(count[body] ?? 0) times"))
        }
        for body in unknown.sorted() where !isLost {
            violations.append(Violation(.promise2, "\(body) is of unknown outcome, and no session was lost"))
        }
        for body in accepted where !stored.contains(body) {
            violations.append(Violation(.promise2, "\(body) was accepted and is not stored"))
        }
        for body in Set(taken).subtracting(stored).sorted() {
            violations.append(Violation(.promise2, "\(body) was sent and is not stored"))
        }
        let known = Set(accepted).subtracting(repetitions.keys)
        if violations.isEmpty,
            taken.filter({ known.contains($0) }) != accepted.filter({ known.contains($0) && count[$0] != nil })
        {
            violations.append(Violation(.promise2, "sent as \(taken), accepted as \(accepted)"))
        }
        for row in rows
        where row.direction == "out" && ["queued", "sent"].contains(row.state)
            && !unsettled.contains(where: { $0.id == row.id })
        {
            violations.append(Violation(.promise2, "\(row.body ?? row.id) is still \(row.state ?? "-")"))
        }
        return violations
    }

    /// Whether nothing can tell the outcome of a message. Prosody's archive can, if the archive keeps everything, says so, was
    /// never emptied, and held something known to the client when the message was accepted.
    /// - Parameter isLate: whether the message was accepted after the client had read a part of the archive.
    static func mayBeUnknown(isLate: Bool, in simulation: Simulation) -> Bool {
        let profile = simulation.plan.profile
        return !profile.hasArchive || profile.policy != .always || !profile.hasPreferences || profile.archivedLate > 0
            || simulation.world.counts.forgotten > 0 || !isLate
    }
}
