import CAdwaita
import KalijApp
import KalijClient

/// The actions on messages.
extension MainWindow {
    func connectActions() {
        screen.onAction = { [weak self] action, message in self?.act(action, on: message) }
        screen.onReact = { [weak self] message, emoji in self?.react(to: message, with: emoji) }
        screen.onUndo = { [weak self] in self?.deletion?.undo() }
        screen.composer.onCorrectLast = { [weak self] in self?.correctLast() }
        screen.composer.onCorrectionEnded = { [weak self] in self?.showDraft() }
        screen.composer.onTyping = { [weak self] state in self?.send(state) }
    }

    /// - Parameter message: as it was displayed; it may have been retracted while its menu was open.
    private func act(_ action: MessageAction, on message: MessageRow) {
        guard let message = thread?.page.message(message.id, for: action) else { return toast(Words.notPossibleNow) }
        switch action {
        case .resend: resend(message)
        case .reply: screen.composer.reply(to: message)
        case .react: screen.chooseReaction(to: message)
        case .correct: correct(message)
        case .copy: copy(message)
        case .readers: Dialogs.readers(message, over: window)
        case .retract: retract(message)
        case .forget: delete(message)
        }
    }

    /// Accepts a change of a conversation, in the order of the user's actions.
    /// - Parameters:
    ///   - key: the conversation; nil for the open one.
    ///   - accepted: called if the change was accepted, and has not failed at once.
    ///   - refused: called otherwise, and if the driver refuses the change, which may be later.
    func accept(
        _ intent: some Intent & Sendable, in key: ConversationKey? = nil,
        accepted: @escaping (MainWindow) -> Void = { _ in },
        refused: @escaping (MainWindow) async -> Void = { _ in }
    ) {
        guard let key = key ?? thread?.key else { return }
        writes.add { [weak self] in
            guard let self else { return }
            do {
                let id = try await backend.accept(intent, for: key.account)
                if let reason = try? await reader.failure(of: id, of: key.account) {
                    await isRefused(reason, in: key, refused)
                } else {
                    accepted(self)
                    if !backend.isDriving { awaitRefusal(of: id, in: key, refused) }
                }
            } catch { await isRefused(Words.why(error), in: key, refused) }
            dirty.insert(key)
            look()
        }
    }

    private func isRefused(_ reason: String, in key: ConversationKey, _ refused: (MainWindow) async -> Void) async {
        toast(Words.notAccepted(reason.shownName))
        await refused(self)
        dirty.insert(key)
    }

    /// A change in the mailbox: its driver may refuse it.
    private func awaitRefusal(
        of id: String, in key: ConversationKey, _ refused: @escaping (MainWindow) async -> Void
    ) {
        Task { [weak self] in
            for interval in ChangePace.soon {
                try? await Task.sleep(for: interval)
                guard let self, !isQuitting else { return }
                switch try? await reader.outcome(of: id, by: key.account) {
                case .failed(let reason):
                    await isRefused(reason, in: key, refused)
                    return look()
                case .done: return
                case .pending, nil: continue
                }
            }
        }
    }

    private func resend(_ message: MessageRow) {
        guard let key = thread?.key else { return }
        writes.add { [weak self] in
            let send = { [weak self] (isPlain: Bool) -> Void in
                self?.accept(Resend(.row(message.id), isPlain: isPlain), in: key)
            }
            if await self?.mustDecide(in: key, decided: send) == false { send(false) }
        }
    }

    private func react(to message: MessageRow, with emoji: String) {
        guard let message = thread?.page.message(message.id, for: .react) else { return toast(Words.notPossibleNow) }
        accept(React(.row(message.id), message.reactions(toggling: emoji)))
    }

    private func copy(_ message: MessageRow) {
        guard let key = thread?.key else { return }
        Task {
            let whole = message.id > 0 ? try? await reader.body(of: message.id, in: key) : nil
            gdk_clipboard_set_text(gtk_widget_get_clipboard(window), whole ?? message.text.withoutBreakingPlaces)
            Announcer.say(Words.copied)
        }
    }

    private func retract(_ message: MessageRow) {
        guard let key = thread?.key else { return }
        Dialogs.confirm(
            over: window, Words.retractQuestion, Words.retractHint(message.text.shownStart), Words.retract
        ) { [weak self] in self?.accept(Retract(.row(message.id)), in: key) }
    }

    /// Sends a state in the order of the user's actions: none overtakes the message that ends it. Rooms have no states.
    private func send(_ state: ChatState) {
        guard let thread, !thread.isGroup else { return }
        writes.add { [weak self] in await self?.backend.send(state, to: thread.key) }
    }

    // MARK: Corrections

    private func correct(_ message: MessageRow) {
        guard let key = thread?.key else { return }
        Task {
            guard let body = try? await reader.body(of: message.id, in: key), thread?.key == key else { return }
            screen.composer.correct(message.id, body)
        }
    }

    private func correctLast() {
        guard let key = thread?.key else { return }
        Task {
            guard let message = try? await reader.lastCorrectable(in: key), thread?.key == key else { return }
            correct(message)
        }
    }

    /// Accepts a correction, whose text is given back if it is refused.
    func correct(_ text: String, _ meaning: Composing, in key: ConversationKey) {
        guard case .correction(let id, _) = meaning else { return }
        writes.add { [weak self] in
            guard let self else { return }
            if await mustDecide(in: key, before: text) { return await giveBack(StoredDraft(text, meaning), in: key) }
            accept(
                Correct(.row(id), body: text), in: key,
                refused: {
                    try? await $0.backend.keep(StoredDraft("", meaning), for: key)
                    await $0.giveBack(StoredDraft(text), in: key)
                })
        }
    }

    private func showDraft() {
        guard let key = thread?.key else { return }
        writes.add { [weak self] in
            guard let self, let draft = try? await reader.draft(key), thread?.key == key else { return }
            if screen.composer.composing == .message { screen.composer.begin(with: draft) }
        }
    }
}
