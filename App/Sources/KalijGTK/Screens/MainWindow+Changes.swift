import CAdwaita
import KalijApp
import KalijClient

/// What tells that a change is done.
enum ChangeNotice {
    /// A screen reader alone speaks: the change is visible.
    case spoken
    case shown(String)
    /// The control that was used has said it.
    case none
}

/// Changes whose outcome a server or a room determines later: the window never waits for it.
extension MainWindow {
    /// Accepts a change, and displays its outcome when it is known.
    /// - Parameters:
    ///   - what: the change in words.
    ///   - accepted: called with whether the change is stored.
    ///   - done: called when it is done, with the room that it has created; for a room that lacks its picture, too.
    func change(
        _ intent: any Intent, of account: String, _ what: String, notice: ChangeNotice = .spoken,
        accepted: @escaping (Bool) -> Void = { _ in }, done: @escaping (String?) -> Void = { _ in }
    ) {
        writes.add { [weak self] in
            guard let self else { return }
            do {
                let id = try await backend.accept(intent, for: account)
                accepted(true)
                Task { [weak self] in await self?.follow(id, of: account, what, notice, done) }
            } catch {
                refused(what, Words.why(error))
                accepted(false)
            }
            isAllDirty = true
            look()
        }
    }

    private func showPending() { if side.shown == .group { side.group.show(waiting: pendingChanges) } }

    private func follow(
        _ id: String, of account: String, _ what: String, _ notice: ChangeNotice, _ done: (String?) -> Void
    ) async {
        pendingChanges += 1
        showPending()
        var outcome = IntentOutcome.pending
        for interval in ChangePace.intervals where outcome == .pending && !isQuitting {
            try? await Task.sleep(for: interval)
            outcome = (try? await reader.outcome(of: id, by: account)) ?? .pending
        }
        let room = (try? await reader.room(createdBy: id, by: account)) ?? nil
        pendingChanges -= 1
        showPending()
        isAllDirty = true
        look()
        switch outcome {
        // The outcome of a change that is still pending is visible in what it changes.
        case .pending: break
        case .done:
            switch notice {
            case .spoken: Announcer.say(Words.changed(what))
            case .shown(let words): toast(words)
            case .none: break
            }
            done(room)
        case .failed(let reason):
            refused(what, reason)
            if room != nil { done(room) }
        }
    }

    private func refused(_ what: String, _ why: String) {
        toast(Words.notChanged(what, why))
        guard side.shown == .settings else { return }
        side.settings.forgetChoices()
        isAllDirty = true
        look()
    }
}
