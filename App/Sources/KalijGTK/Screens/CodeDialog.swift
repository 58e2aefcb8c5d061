import CAdwaita
import Dispatch
import KalijApp
import KalijDesktop

/// Reads a code: from a picture, the clipboard or the screen, or its text. Stays open until a code was taken, or the user closes it.
final class CodeDialog {
    /// The purpose of a code: the texts of its dialog.
    struct Purpose {
        let heading: String
        let hint: String
        /// The beginning of the code's text, as an example.
        let example: String
        let action: String
    }

    private let purpose: Purpose
    private let window: Widget
    private let entry = widget(OpaquePointer(gtk_entry_new()))
    private let problem = Make.label(classes: "error")
    /// Whether the dialog still exists when a picture was read.
    private var isOpen = true
    /// Takes what was read; returns why it is not taken, or nil.
    private let take: ([String]) -> String?
    private let decoder = PictureDecoder(program: AppProgram.path(of: "kalij-app-decode"))
    private static let queue = DispatchQueue(label: "kalij.codes", qos: .userInitiated)

    /// - Parameter take: called with the texts that were read; returns why they are not taken, or nil.
    @discardableResult
    init?(over parent: Widget, _ purpose: Purpose, take: @escaping ([String]) -> String?) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), purpose.heading) else { return nil }
        (self.purpose, self.take) = (purpose, take)
        window = dialog
        build(OpaquePointer(dialog))
    }

    private func build(_ object: OpaquePointer) {
        adw_message_dialog_set_body(cast(raw(object)), purpose.hint)
        kalij_name(entry, Words.codeText)
        gtk_entry_set_placeholder_text(cast(raw(entry)), purpose.example)
        problem.wrapText()
        gtk_label_set_max_width_chars(opaque(problem), 40)
        problem.show(false)
        // The dialog owns the closures, and with them this object.
        let picture = Make.button(Words.fromPicture) { self.choosePicture() }
        let clipboard = Make.button(Words.fromClipboard) { self.readClipboard() }
        let screen = Make.button(Words.fromScreen) { self.readScreen() }
        screen.show(false)
        Task {
            let isThere = await ScreenPicture.isAvailable()
            if isThere, isOpen { screen.show(true) }
        }
        let label = Make.silentLabel(classes: "caption-heading")
        label.setText(Words.codeText)
        // A response of the dialog would close it, whatever the outcome.
        let verify = Make.button(purpose.action, classes: "suggested-action") { self.found([self.text]) }
        adw_message_dialog_set_extra_child(
            cast(raw(object)), Make.vertical(picture, clipboard, screen, label, entry, verify, problem, spacing: 8))
        adw_message_dialog_add_response(cast(raw(object)), "cancel", Words.cancel)
        adw_message_dialog_set_close_response(cast(raw(object)), "cancel")
        connect(entry, "changed") { _ in self.problem.show(false) }
        connect(entry, "activate") { _ in self.found([self.text]) }
        connect(object, "destroy") { _ in self.isOpen = false }
        Names.fill(window)
        gtk_window_present(cast(raw(object)))
        picture.focus()
    }

    private var text: String { gtk_editable_get_text(OpaquePointer(entry)).map { String(cString: $0) } ?? "" }

    private func show(_ words: String) {
        guard isOpen else { return }
        problem.setText(words)
        problem.show(true)
        Announcer.say(words)
    }

    /// Closes the dialog if a text is taken.
    private func found(_ texts: [String]) {
        guard isOpen else { return }
        if let words = take(texts) { show(words) } else { gtk_window_destroy(cast(raw(window))) }
    }

    // MARK: Pictures

    private func choosePicture() {
        guard
            let chooser = kalij_file_chooser(
                Words.fromPicture, cast(raw(window)), GTK_FILE_CHOOSER_ACTION_OPEN, Words.open)
        else { return }
        connect(chooser, "response") { arguments in
            if arguments.int(1) == GTK_RESPONSE_ACCEPT.rawValue,
                let file = gtk_file_chooser_get_file(kalij_chooser(chooser))
            {
                if let path = g_file_get_path(file) {
                    self.read(String(cString: path))
                    g_free(path)
                }
                g_object_unref(raw(file))
            }
            g_object_unref(chooser)
        }
        gtk_native_dialog_show(kalij_native_dialog(chooser))
    }

    /// - Parameter isTemporary: whether the file is removed afterwards.
    private func read(_ path: String, isTemporary: Bool = false) {
        let decoder = decoder
        Self.queue.async {
            let codes = decoder.codes(path)
            if isTemporary { Attachment.remove(temporary: path) }
            Task { @MainActor in
                if let codes { self.found(codes) } else { self.show(Words.notAPicture) }
            }
        }
    }

    private func readScreen() {
        window.show(false)
        Task {
            let path = await ScreenPicture.make()
            guard isOpen else { return }
            window.show(true)
            if let path { read(path) } else { show(Words.noScreen) }
        }
    }

    // MARK: The clipboard

    private static let pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"]

    private func readClipboard() {
        guard let clipboard = gtk_widget_get_clipboard(window), let formats = gdk_clipboard_get_formats(clipboard)
        else {
            return show(Words.emptyClipboard)
        }
        let patience = Patience { self.show(Words.silentClipboard) }
        if let type = Self.pictures.first(where: { gdk_content_formats_contain_mime_type(formats, $0) != 0 }) {
            return readPicture(clipboard, type, patience)
        }
        let (ready, data) = whenReady { _, result in
            patience.end()
            guard let text = gdk_clipboard_read_text_finish(clipboard, result, nil) else {
                return self.show(Words.emptyClipboard)
            }
            self.found([String(cString: text)])
            g_free(text)
        }
        gdk_clipboard_read_text_async(clipboard, nil, ready, data)
    }

    /// The bytes are stored as they are: only the confined process decodes them.
    private func readPicture(_ clipboard: OpaquePointer, _ type: String, _ patience: Patience) {
        let (ready, data) = whenReady { _, result in
            guard let stream = gdk_clipboard_read_finish(clipboard, result, nil, nil) else {
                patience.end()
                return self.show(Words.emptyClipboard)
            }
            TemporaryPicture.store(stream, type) { path in
                patience.end()
                if let path { self.read(path, isTemporary: true) } else { self.show(Words.notAPicture) }
            }
        }
        var types: [UnsafePointer<CChar>?] = [g_strdup(type).map { UnsafePointer($0) }, nil]
        gdk_clipboard_read_async(clipboard, &types, 0, nil, ready, data)
        if let name = types[0] { g_free(UnsafeMutableRawPointer(mutating: name)) }
    }
}
