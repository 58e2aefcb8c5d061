import CAdwaita
import KalijApp
import KalijClient

/// Messages that the user deletes: they are deleted when their toast is dismissed, unless the user has undone it.
final class Deletion {
    let key: ConversationKey
    let messages: [Int64]
    private let toast: OpaquePointer
    private(set) var isUndone = false

    /// - Parameter toast: owned by this object.
    init(_ key: ConversationKey, _ messages: [Int64], _ toast: OpaquePointer) {
        (self.key, self.messages, self.toast) = (key, messages, toast)
        g_object_ref(raw(toast))
    }

    isolated deinit { g_object_unref(raw(toast)) }

    func undo() {
        isUndone = true
        end()
    }

    /// Ends the time for undoing.
    func end() { adw_toast_dismiss(toast) }
}

extension MainWindow {
    /// Deletes a message here. A process that is killed before the toast is dismissed has not deleted it.
    func delete(_ message: MessageRow) {
        let former = deletion
        guard let key = thread?.key else { return }
        // Deletions that follow each other have one toast, so that the user can undo all of them.
        let continued = former?.key == key ? former?.messages ?? [] : []
        if continued.isEmpty { former?.end() }
        let messages = continued + [message.id]
        guard let toast = adw_toast_new(Words.deleted(messages.count)) else { return }
        let deletion = Deletion(key, messages, toast)
        self.deletion = deletion
        if !continued.isEmpty { former?.end() }
        adw_toast_set_button_label(toast, Words.undo)
        adw_toast_set_timeout(toast, Self.timeToUndo)
        connect(toast, "button-clicked") { [weak deletion] _ in deletion?.undo() }
        connect(toast, "dismissed") { [weak self, weak deletion] _ in if let deletion { self?.ended(deletion) } }
        toasts.replaceAll(by: toast)
        Announcer.say(Words.deleted(messages.count) + ". " + Words.undoHint)
        let place = screen.list.selectedPlace ?? 0
        showAgain(key) { $0.screen.list.focusRow(or: min(place, $0.screen.list.rows.count - 1)) }
    }

    /// In seconds.
    private static let timeToUndo: UInt32 = 8

    private func ended(_ deletion: Deletion) {
        guard self.deletion === deletion else { return }
        self.deletion = nil
        guard !deletion.isUndone else {
            Announcer.say(Words.undone)
            return showAgain(deletion.key) { _ in }
        }
        for message in deletion.messages { accept(Forget(.row(message)), in: deletion.key) }
    }

    /// Reads the conversation again, if it is open.
    private func showAgain(_ key: ConversationKey, _ shown: @escaping (MainWindow) -> Void) {
        guard thread?.key == key else { return }
        Task {
            await lookAtThread()
            shown(self)
        }
    }
}
