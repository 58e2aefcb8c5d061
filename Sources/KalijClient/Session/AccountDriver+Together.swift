import KalijSteps
import KalijFeatures
import KalijStream
import KalijXML

/// Stanzas that arrived together: each a step of its own, and all of them in one transaction.
///
/// A commit costs several times what a step does: pages that neighbours have changed are written once instead of once for
/// each. What a stanza changes is committed at once still, only not without what its neighbours change; what leaves the
/// process leaves behind it, acknowledgements included. Results of one page are one step: how far the reading has come is then
/// written once for all of them.
extension AccountDriver {
    /// How long the transaction may be open before the last step in it begins, in nanoseconds.
    private static let longest: Int64 = 5_000_000
    /// How many results of a page are one step.
    private static let mostResults = 50

    /// Handles the stanzas at the inbox's begin.
    /// - Returns: whether it did; if not, nothing has happened, and the next event is to be handled by itself. Where a step
    ///   or the commit has thrown that goes for all of them, so that what is to blame fails alone.
    func handleTogether() throws -> Bool {
        // The attempt at a stanza that may have ended the process before is committed in front of it.
        guard alone == 0, !isCareful, attemptBegun == nil, case .online(var management?) = stage, areNeighboursWaiting
        else { return false }
        var effects: [Step.Effects] = []
        var (taken, requests) = (0, 0)
        var results: (page: ArchiveResults.Page, stanzas: [Element], count: HandledCount)?
        func handleResults() throws {
            if let results { effects.append(try steps.handle(results.stanzas, count: results.count)) }
            results = nil
        }
        func handle(_ stanza: Element, _ count: HandledCount) throws {
            let page = ArchiveResults.page(of: stanza)
            if results?.page != page || results?.stanzas.count == Self.mostResults { try handleResults() }
            guard let page else { return effects.append(try steps.handle(stanza, count: count)) }
            results = results ?? (page, [], count)
            results?.stanzas.append(stanza)
            results?.count = count
        }
        do {
            try context.runner.together(for: Self.longest) { isTime in
                events: for event in inbox.waiting {
                    guard case .element(let element) = event, isTime() else { break }
                    var next = management
                    switch try next.receive(element, unacknowledged: writer.outstanding) {
                    case .stanza(let count): try handle(element, count)
                    case .acknowledgementRequested: requests += 1
                    case .acknowledged, .streamError, .nonza: break events
                    }
                    management = next
                    taken += 1
                }
                try handleResults()
            }
        } catch {
            // The first one is alone already.
            guard taken > 0 else { throw error }
            alone = taken + 1
            return false
        }
        guard taken > 0 else { return false }
        (timers.heard, timers.heardMeanwhile) = (true, true)
        stage = .online(management)
        requestsToAnswer += requests
        inbox.removeFirst(taken)
        for effects in effects {
            commit(effects)
            readArchiveInTime(effects)
        }
        return true
    }

    private var areNeighboursWaiting: Bool {
        guard inbox.waiting.count > 1, case .element(let first) = inbox.first else { return false }
        return StreamManagement.isStanza(first)
    }
}
