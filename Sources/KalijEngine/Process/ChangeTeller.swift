import FoundationEssentials
import KalijAddress
import KalijCore
import KalijText
import KalijTransport

/// Publishes after each commit what changed, to all processes that display the directory, including the driver's own
/// (``DirectoryChanges``). Changes within a short interval are coalesced: each part is reported once, with its last value.
package final class ChangeTeller {
    /// The line for "any part may have changed": the first line for a new viewer, and the one that replaces missed changes.
    package static let everything = Array("*\n".utf8)
    /// How long changes are coalesced after the first, in seconds.
    private static let pause = 0.05

    private struct Place: Hashable {
        let account: ExactText
        let kind: DirectoryChange.Kind
        let key: ExactText
    }

    /// The listener that holds the viewers' connections.
    package weak var doorbell: DoorbellListener?
    private let loop: any Scheduler
    private var waiting: [Place: DirectoryChange] = [:]
    private var timer: Timer?
    private var states: [JID: AccountState] = [:]
    /// The transfers in progress, with their bytes.
    private var transfers: [Place: DirectoryChange] = [:]

    package init(on loop: any Scheduler) { self.loop = loop }

    deinit { timer?.cancel() }

    /// An event was emitted to the application.
    package func record(_ event: EngineEvent) {
        let hasViewers = hasViewers
        // An event about a message is nothing else.
        guard hasViewers || event.number == nil else { return }
        if type(of: event.content) == LoggedOut.self { forget(event.account) }
        if AccountState.isAffected(by: event), states[event.account, default: AccountState(at: event.at)].apply(event) {
            recordState(of: event.account)
        }
        guard hasViewers || event.content.isTransfer, let part = event.content.changed else { return }
        let change = DirectoryChange(part, of: event.account)
        if part.kind == .transfer { transfers[place(of: change)] = part.value == nil ? nil : change }
        if hasViewers { add(change) }
    }

    private func forget(_ account: JID) {
        states[account] = nil
        transfers = transfers.filter { $0.key.account != account.description.exact }
    }

    private func place(of change: DirectoryChange) -> Place {
        Place(account: change.account.exact, kind: change.kind, key: change.key.exact)
    }

    private var hasViewers: Bool { doorbell?.hasViewers ?? false }

    private func recordState(of account: JID) {
        guard hasViewers, let change = state(of: account) else { return }
        add(change)
    }

    private func state(of account: JID) -> DirectoryChange? {
        states[account].flatMap { try? JSONEncoder().encode($0) }
            .map { DirectoryChange(.init(.state, value: String(decoding: $0, as: UTF8.self)), of: account) }
    }

    /// The first lines for a new viewer.
    package var greeting: [UInt8] {
        Self.everything + Self.lines(states.keys.compactMap(state) + Array(transfers.values))
    }

    private func add(_ change: DirectoryChange) {
        waiting[place(of: change)] = change
        guard timer == nil else { return }
        // The first change is sent when the current work is done.
        timer = loop.schedule(after: 0) { [weak self] in self?.publish() }
    }

    private func publish() {
        timer = nil
        guard !waiting.isEmpty else { return }
        doorbell?.publish(changes: Self.lines(Array(waiting.values)))
        waiting = [:]
        timer = loop.schedule(after: Self.pause) { [weak self] in self?.publish() }
    }

    private static func lines(_ changes: [DirectoryChange]) -> [UInt8] {
        let encoder = JSONEncoder()
        return changes.compactMap { try? encoder.encode($0) }.flatMap { $0 + [0x0A] }
    }
}
