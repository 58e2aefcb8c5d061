import CAdwaita
import KalijApp
import KalijClient
import KalijDesktop

// Notifications, and the process without a window that follows this one.
extension MainWindow {
    func addNotifications() {
        addBackgroundAction()
        guard let notifications else { return }
        notifications.export(on: application)
        notifications.isVisible = { [weak self] key in self?.isVisible(key) ?? false }
        notifications.onAction = { [weak self] action, target in self?.perform(action, on: target) }
    }

    /// Whether new messages of the conversation appear on the focused screen.
    private func isVisible(_ key: ConversationKey) -> Bool {
        gtk_window_is_active(cast(raw(window))) != 0 && thread?.key == key && !isPaging && screen.isAtEnd
            && !(thread?.page.hasNewer ?? true)
    }

    private func perform(_ action: NotificationAction, on target: NotificationTarget) {
        guard action == .open else {
            screen.composer.keep()
            return writes.add { [weak self] in
                guard let self else { return }
                // Fails if the account was removed in the meantime.
                let isDone = try? await backend.perform(action, on: target, reading: reader)
                if isDone == false { await showKeptReply(in: target.key) }
            }
        }
        present()
        Task { if let row = try? await reader.conversation(target.key) { open(row) } }
    }

    /// Opens the conversation of a reply that waits for a decision on new devices, and is a draft until then.
    private func showKeptReply(in key: ConversationKey) async {
        present()
        toast(Words.replyWaits)
        guard let row = try? await reader.conversation(key) else { return }
        guard thread?.key == key else { return await open(row, at: nil) }
        open(row)
        guard let draft = try? await reader.draft(key), !screen.composer.composing.isCorrection else { return }
        screen.composer.replace(with: draft)
    }

    // MARK: Closing

    private var choice: BackgroundChoice? { BackgroundChoice.load(in: reader.directory.path) }

    /// Closes the window: Kalij ends, or continues without a window, as the user has chosen.
    func close() {
        guard notifications != nil, !accounts.isEmpty else { return quit() }
        switch choice {
        case .yes: continueInBackground()
        case .no: quit()
        case nil: Dialogs.background(over: window) { [weak self] choice in self?.closed(choice) }
        }
    }

    private func closed(_ choice: BackgroundChoice) {
        keep(choice)
        if choice == .yes { continueInBackground() } else { quit() }
    }

    private func continueInBackground() {
        continuesInBackground = true
        quit()
    }

    private func keep(_ choice: BackgroundChoice) {
        do throws(FileError) { try choice.keep(in: reader.directory.path) } catch {
            return toast(Words.notChanged(Words.background, Words.why(error)))
        }
        Autostart.set(choice == .yes, id: words.applicationID, words: words.forwarded)
    }

    /// A check item of the menu.
    private func addBackgroundAction() {
        guard let action = kalij_check_action("background", choice == .yes ? 1 : 0) else { return }
        connect(raw(action), "activate") { [weak self] _ in
            guard let self else { return }
            let changed: BackgroundChoice = self.choice == .yes ? .no : .yes
            keep(changed)
            g_simple_action_set_state(action, g_variant_new_boolean(changed == .yes ? 1 : 0))
        }
        g_action_map_add_action(application, action)
        g_object_unref(raw(action))
    }
}

extension Dialogs {
    /// Prompts, once, whether to receive messages without a window.
    static func background(over parent: Widget, _ choose: @escaping (BackgroundChoice) -> Void) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), Words.goOnReceiving) else { return }
        let object = OpaquePointer(dialog)
        adw_message_dialog_set_body(cast(raw(object)), Words.goOnReceivingHint)
        adw_message_dialog_add_response(cast(raw(object)), "no", Words.quit)
        adw_message_dialog_add_response(cast(raw(object)), "yes", Words.goOn)
        adw_message_dialog_set_response_appearance(cast(raw(object)), "yes", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(cast(raw(object)), "yes")
        connect(object, "response::yes") { _ in choose(.yes) }
        connect(object, "response::no") { _ in choose(.no) }
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
    }
}
