import KalijCore
import KalijStream
import KalijXML

/// Handles individual stanzas of a session: an attempt that counts is committed before the step, and a stanza whose attempts are
/// exhausted is set aside.
package final class StanzaHandling {
    private weak var driver: AccountDriver?
    private let steps: SessionSteps
    private let attempts: Attempts

    package init(_ driver: AccountDriver) {
        (self.driver, steps) = (driver, driver.steps)
        attempts = Attempts(runner: driver.context.runner, account: driver.account)
    }

    /// Whether the stanza is an archive result that could not be handled before, or its message: it requires a transaction of its
    /// own.
    package func isAlone(_ stanza: Element) -> Bool {
        guard let redelivery = driver?.redelivery, redelivery.hasFailedResults else { return false }
        let name =
            ArchiveResult.name(of: stanza, to: steps.account.jid)
            ?? ArchiveResult.name(stamped: stanza, to: steps.account.jid)
        return name.map(redelivery.hasFailed) ?? false
    }

    /// - Parameter count: the handled count after the stanza; nil without stream management.
    package func handle(_ stanza: Element, _ count: HandledCount?) throws -> Step.Effects {
        guard let driver else { return Step.Effects() }
        if let result = ArchiveResult.name(of: stanza, to: steps.account.jid) {
            return try handle(stanza, count, result)
        }
        if driver.redelivery.hasFailedResults,
            ArchiveResult.name(stamped: stanza, to: steps.account.jid).map(driver.redelivery.isUsedUp) ?? false
        {
            return try setAside(stanza, count, after: Attempts.last)
        }
        // Without stream management no stanza is redelivered.
        guard let count else { return try steps.handle(stanza, count: nil) }
        if driver.redelivery.handle(count) == .begin {
            driver.redelivery.begun(count, attempt: try attempts.begin(count))
        }
        guard case .setAside(let number) = driver.redelivery.handle(count) else {
            return try steps.handle(stanza, count: count)
        }
        return try setAside(stanza, count, after: number)
    }

    /// Handles an archive result; `name` is its name in ``FailedResults``.
    private func handle(_ stanza: Element, _ count: HandledCount?, _ name: String) throws -> Step.Effects {
        guard let driver else { return Step.Effects() }
        do {
            // After a resumption the server redelivers results of an earlier query, which no handler processes.
            guard driver.redelivery.hasFailed(name),
                try steps.isAwaited(stanza)
            else {
                return try steps.handle(stanza, count: count)
            }
            guard !driver.redelivery.isUsedUp(name) else { return try setAside(stanza, count, after: Attempts.last) }
            let effects = try steps.handle(stanza, count: count, failedBefore: name)
            driver.redelivery.handled(name)
            return effects
        } catch {
            // Errors of the machine are not counted.
            if case .careful = ErrorDisposition(of: error) {
                driver.redelivery.failed(name, times: try attempts.failed(name))
            }
            throw error
        }
    }

    private func setAside(_ stanza: Element, _ count: HandledCount?, after attempts: Int) throws -> Step.Effects {
        let effects = try steps.quarantine(QuarantinedStanza(stanza, attempts: attempts), count: count)
        driver?.reconnecting.stanzaSetAside()
        return effects
    }
}
