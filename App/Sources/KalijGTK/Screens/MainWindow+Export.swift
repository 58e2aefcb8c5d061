import CAdwaita
import KalijApp
import KalijClient

/// The export of an account.
extension MainWindow {
    /// Requests a file, and writes what is stored of the account into it.
    func export(_ account: String) {
        guard
            let chooser = kalij_file_chooser(
                Words.exporting(account), cast(raw(window)), GTK_FILE_CHOOSER_ACTION_SAVE, Words.save)
        else { return }
        gtk_file_chooser_set_current_name(kalij_chooser(chooser), account + ".jsonl")
        connect(chooser, "response") { [weak self] arguments in
            if arguments.int(1) == GTK_RESPONSE_ACCEPT.rawValue,
                let target = gtk_file_chooser_get_file(kalij_chooser(chooser))
            {
                if let path = g_file_get_path(target) {
                    self?.export(account, to: String(cString: path))
                    g_free(path)
                }
                g_object_unref(raw(target))
            } else {
                self?.toast(Words.exportCancelled)
            }
            g_object_unref(chooser)
        }
        gtk_native_dialog_show(kalij_native_dialog(chooser))
    }

    private func export(_ account: String, to path: String) {
        let export = Export()
        let progress = ProgressDialog(over: window, Words.exporting(account), Words.exportHint) { export.cancel() }
        let directory = reader.directory
        Task { [weak self] in
            let words: String
            do {
                let count = try await export.save(account, of: directory, to: path) { part in
                    Task { @MainActor in progress?.show(part) }
                }
                words = Words.exported(count, path.shownName)
            } catch is CancellationError {
                words = Words.exportCancelled
            } catch {
                words = Words.exportFailed(Words.why(error))
            }
            progress?.end()
            self?.toast(words)
        }
    }
}

/// The progress of something that can be cancelled.
final class ProgressDialog {
    private let window: Widget
    private let bar = widget(OpaquePointer(gtk_progress_bar_new()))
    private var isOpen = true

    /// - Parameter cancel: called if the user cancels.
    init?(over parent: Widget, _ heading: String, _ body: String, cancel: @escaping () -> Void) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), heading) else { return nil }
        window = dialog
        let object = OpaquePointer(dialog)
        adw_message_dialog_set_body(cast(raw(object)), body)
        kalij_name(bar, heading)
        adw_message_dialog_set_extra_child(cast(raw(object)), bar)
        adw_message_dialog_add_response(cast(raw(object)), "cancel", Words.cancel)
        adw_message_dialog_set_close_response(cast(raw(object)), "cancel")
        connect(object, "response::cancel") { [weak self] _ in
            self?.isOpen = false
            cancel()
        }
        Names.fill(dialog)
        gtk_window_present(cast(raw(object)))
    }

    /// - Parameter part: from 0 to 1.
    func show(_ part: Double) { if isOpen { gtk_progress_bar_set_fraction(opaque(bar), part) } }

    func end() {
        guard isOpen else { return }
        isOpen = false
        gtk_window_destroy(cast(raw(window)))
    }
}
