import CAdwaita
import KalijApp
import KalijClient

extension MainWindow {
    /// Connects files: chosen ones, and those of rows.
    func connectFiles() {
        screen.composer.onSendFiles = { [weak self] files, text in self?.send(files, text) }
        screen.composer.conversation = { [weak self] in self?.thread?.key }
        screen.composer.onLateFiles = { [weak self] files, key in
            if let key { self?.unsent.keep(files, for: key) }
        }
        screen.composer.onProblem = { [weak self] words in self?.toast(words) }
        screen.onFile = { [weak self] message, action in self?.act(action, on: message) }
    }

    // MARK: Sending

    /// Accepts files; the text follows the last one. What is not accepted is given back.
    private func send(_ files: [Attachment], _ text: String) {
        guard let key = thread?.key else { return }
        writes.add { [weak self] in
            guard let self else { return }
            if await mustDecide(in: key, before: text) { return await giveBack(files, text, in: key) }
            var left = files[...]
            let words = text.contains { !$0.isWhitespace } ? text : nil
            while let file = left.first {
                do {
                    let isLast = left.count == 1
                    try await backend.sendFile(file.path, text: isLast ? words : nil, to: key, endsDraft: isLast)
                    file.discard()
                    left.removeFirst()
                } catch {
                    toast(Words.notAttached(file.name, Words.why(error)))
                    break
                }
            }
            if !left.isEmpty { await giveBack(Array(left), text, in: key) }
            dirty.insert(key)
            look()
            if thread?.page.hasNewer ?? false || !screen.isAtEnd { latest() }
        }
    }

    /// Restores files with their text.
    private func giveBack(_ files: [Attachment], _ text: String, in key: ConversationKey) async {
        if thread?.key == key { return screen.composer.giveBack(files, text) }
        unsent.keep(files, for: key)
        if !text.isEmpty { await giveBack(StoredDraft(text), in: key) }
    }

    // MARK: Actions

    private func act(_ action: FileAction, on message: MessageRow) {
        guard let file = message.file else { return }
        switch action {
        case .open: open(file)
        case .saveAs: save(file)
        case .download: accept(Download(.row(message.id)))
        case .pause:
            if let upload = file.upload {
                accept(PauseUpload(upload))
            } else {
                accept(CancelDownload(.row(message.id)))
            }
        case .resume: if let upload = file.upload { accept(RetryUpload(upload)) }
        case .retry:
            if let upload = file.upload { accept(RetryUpload(upload)) } else { accept(Download(.row(message.id))) }
        case .cancel: if let upload = file.upload { remove(upload, message) }
        }
    }

    /// A file that has failed leaves with its message.
    private func remove(_ upload: String, _ message: MessageRow) {
        accept(CancelUpload(upload))
        if message.id > 0 { accept(Forget(.row(message.id))) }
    }

    /// Opens the file by the desktop's program for its type.
    private func open(_ file: FileRow) {
        guard let path = file.path, let uri = g_filename_to_uri(path, nil, nil) else { return }
        defer { g_free(uri) }
        let (ready, data) = whenReady { [weak self] _, result in
            if g_app_info_launch_default_for_uri_finish(result, nil) == 0 { self?.toast(Words.cannotOpen) }
        }
        g_app_info_launch_default_for_uri_async(uri, nil, nil, ready, data)
    }

    private func save(_ file: FileRow) {
        guard let path = file.path,
            let chooser = kalij_file_chooser(
                Words.saveAs, cast(raw(window)), GTK_FILE_CHOOSER_ACTION_SAVE, Words.saveAs)
        else { return }
        gtk_file_chooser_set_current_name(kalij_chooser(chooser), file.name.isEmpty ? "file" : file.name)
        connect(chooser, "response") { [weak self] arguments in
            if arguments.int(1) == GTK_RESPONSE_ACCEPT.rawValue { self?.copy(path, chosenBy: chooser) }
            g_object_unref(chooser)
        }
        gtk_native_dialog_show(kalij_native_dialog(chooser))
    }

    /// The chooser has confirmed that an existing file is replaced.
    private func copy(_ path: String, chosenBy chooser: UnsafeMutableRawPointer) {
        guard let file = gtk_file_chooser_get_file(kalij_chooser(chooser)) else { return }
        defer { g_object_unref(raw(file)) }
        guard let chosen = g_file_get_path(file) else { return toast(Words.notSaved(Words.notStored)) }
        let target = String(cString: chosen)
        g_free(chosen)
        Task { [weak self, backend] in
            do {
                try await backend.onOwnThread { try FileCopy.make(of: path, replacing: target) }
                self?.toast(Words.saved(target.shownName))
            } catch {
                self?.toast(Words.notSaved(Words.why(error)))
            }
        }
    }

    // MARK: Progress

    /// More of a file was transferred.
    func showProgress(_ account: String, _ transfer: String, _ bytes: Int64) {
        guard thread?.key.account == account, thread?.moved(transfer, to: bytes) ?? false, let thread else { return }
        show(thread)
    }
}
