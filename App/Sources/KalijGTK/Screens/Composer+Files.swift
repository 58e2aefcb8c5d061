import CAdwaita
import Glibc
import KalijApp

/// Files for the next message: chosen, pasted or dropped.
extension Composer {
    /// Adds files for the conversation `key`; a folder or a missing file is refused with a word.
    private func attach(_ paths: [String], to key: ConversationKey?) {
        let files = paths.compactMap { Attachment($0) }
        if files.count < paths.count { onProblem(Words.isFolder) }
        add(files, to: key)
    }

    /// Adds files that were read while the user may have opened another conversation: each goes to the conversation that it was
    /// chosen for.
    private func add(_ files: [Attachment], to key: ConversationKey?) {
        guard key == conversation() else { return onLateFiles(files, key) }
        strip.add(files)
        text.focus()
    }

    // MARK: The chooser

    func chooseFiles() {
        guard let root = gtk_widget_get_root(text),
            let chooser = kalij_file_chooser(Words.attach, cast(raw(root)), GTK_FILE_CHOOSER_ACTION_OPEN, Words.attach)
        else { return }
        gtk_file_chooser_set_select_multiple(kalij_chooser(chooser), 1)
        connect(chooser, "response") { [weak self, key = conversation()] arguments in
            if arguments.int(1) == GTK_RESPONSE_ACCEPT.rawValue {
                self?.attach(Self.chosen(chooser), to: key)
            }
            g_object_unref(chooser)
        }
        gtk_native_dialog_show(kalij_native_dialog(chooser))
    }

    private static func chosen(_ chooser: UnsafeMutableRawPointer) -> [String] {
        guard let files = gtk_file_chooser_get_files(kalij_chooser(chooser)) else { return [] }
        defer { g_object_unref(raw(files)) }
        return (0..<g_list_model_get_n_items(files)).compactMap { place in
            guard let file = g_list_model_get_item(files, place) else { return nil }
            defer { g_object_unref(file) }
            guard let path = g_file_get_path(kalij_file(file)) else { return nil }
            defer { g_free(path) }
            return String(cString: path)
        }
    }

    // MARK: Dropped and pasted

    func listenForFiles(over area: Widget) {
        if let target = gtk_drop_target_new(kalij_type_file_list(), GDK_ACTION_COPY) {
            connect(target, "drop") { [weak self] arguments in
                let paths = arguments.files(1)
                self?.attach(paths, to: self?.conversation())
                arguments.answer(!paths.isEmpty)
            }
            gtk_widget_add_controller(area, target)
        }
        connect(text, "paste-clipboard") { [weak self] _ in
            guard let self, pasteFiles() else { return }
            g_signal_stop_emission_by_name(raw(text), "paste-clipboard")
        }
    }

    private static let pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"]

    /// - Returns: whether the clipboard has files or a picture, and no text.
    private func pasteFiles() -> Bool {
        guard let clipboard = gtk_widget_get_clipboard(text), let formats = gdk_clipboard_get_formats(clipboard) else {
            return false
        }
        let has = { (type: String) in gdk_content_formats_contain_mime_type(formats, type) != 0 }
        if has("text/uri-list") || gdk_content_formats_contain_gtype(formats, kalij_type_file_list()) != 0 {
            readFiles(clipboard)
            return true
        }
        guard !has("text/plain"), !has("text/plain;charset=utf-8"), let type = Self.pictures.first(where: has) else {
            return false
        }
        readPicture(clipboard, type)
        return true
    }

    private func readFiles(_ clipboard: OpaquePointer) {
        let patience = Patience { [weak self] in self?.onProblem(Words.silentClipboard) }
        let (ready, data) = whenReady { [weak self, key = conversation()] _, result in
            patience.end()
            let files = localPaths(kalij_files(gdk_clipboard_read_value_finish(clipboard, result, nil)))
            self?.attach(files, to: key)
        }
        gdk_clipboard_read_value_async(clipboard, kalij_type_file_list(), 0, nil, ready, data)
    }

    /// The bytes are kept as they are: nothing is decoded here.
    private func readPicture(_ clipboard: OpaquePointer, _ type: String) {
        let patience = Patience { [weak self] in self?.onProblem(Words.silentClipboard) }
        let (ready, data) = whenReady { [weak self, key = conversation()] _, result in
            patience.end()
            guard let stream = gdk_clipboard_read_finish(clipboard, result, nil, nil) else { return }
            self?.store(stream, type, for: key)
        }
        var types: [UnsafePointer<CChar>?] = [g_strdup(type).map { UnsafePointer($0) }, nil]
        gdk_clipboard_read_async(clipboard, &types, 0, nil, ready, data)
        if let name = types[0] { g_free(UnsafeMutableRawPointer(mutating: name)) }
    }

    private func store(_ stream: UnsafeMutablePointer<GInputStream>, _ type: String, for key: ConversationKey?) {
        TemporaryPicture.store(stream, type) { [weak self] path in
            guard let self, let path, let pasted = Attachment(path, isTemporary: true) else {
                self?.notPasted(path ?? "")
                return
            }
            add([pasted], to: key)
        }
    }

    /// The pasted bytes cannot be stored.
    private func notPasted(_ path: String) {
        if !path.isEmpty { Attachment.remove(temporary: path) }
        onProblem(Words.notAttached(Words.picture(""), Words.notStored))
    }
}
