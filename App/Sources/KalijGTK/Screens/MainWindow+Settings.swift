import CAdwaita
import KalijAddress
import KalijApp
import KalijClient

/// The settings, and the end of an account.
extension MainWindow {
    func openSettings() {
        guard !accounts.isEmpty, !isFirstStart else { return }
        let screen = side.settings
        screen.onBack = { [weak self] in self?.goBack() }
        screen.onAction = { [weak self] action, settings in self?.act(action, on: settings) }
        screen.onSwitch = { [weak self] setting, isOn, settings in
            self?.change(setting.change(isOn), of: settings.account, setting.words, notice: .none)
        }
        screen.onNotify = { [weak self] level, settings in
            self?.change(level.change, of: settings.account, Words.notifies, notice: .none)
        }
        screen.onAppearance = { [weak self] appearance in
            guard let self else { return }
            do throws(FileError) {
                try appearance.keep(in: reader.directory.path)
                show(appearance)
            } catch {
                toast(Words.notChanged(Words.appearance, Words.why(error)))
                Task { await self.lookAtSettings() }
            }
        }
        Task {
            guard let page = await settings() else { return }
            screen.show(page)
            side.show(.settings)
            screen.scrollToTop()
            screen.focus()
            Announcer.say(Words.settings)
            for account in page.accounts.map(\.account) {
                _ = try? await backend.accept(FetchProfile(.received(account)), for: account)
            }
        }
    }

    private func settings() async -> SettingsPage? {
        guard var page = try? await reader.settings() else { return nil }
        for place in page.accounts.indices {
            page.accounts[place].state = Words.connection(states[page.accounts[place].account], time: Times.clock)
        }
        return page
    }

    /// Applies the colours that the user has chosen.
    func show(_ appearance: Appearance) {
        let scheme =
            switch appearance {
            case .desktop: ADW_COLOR_SCHEME_DEFAULT
            case .light: ADW_COLOR_SCHEME_FORCE_LIGHT
            case .dark: ADW_COLOR_SCHEME_FORCE_DARK
            }
        adw_style_manager_set_color_scheme(adw_style_manager_get_default(), scheme)
    }

    /// Reads the settings again if they are shown.
    func lookAtSettings() async {
        guard side.shown == .settings, let page = await settings() else { return }
        side.settings.show(page)
    }

    private func act(_ action: AccountAction, on settings: AccountSettings) {
        let account = settings.account
        switch action {
        case .rename:
            Dialogs.ask(over: window, action.plain, Words.ownName, settings.name) { [weak self] name in
                self?.change(SetProfile(name: name), of: account, action.plain, notice: action.done)
            }
        case .changePicture:
            choosePicture(Words.ownPicture) { [weak self] in
                self?.change(SetProfile(avatar: $0), of: account, action.plain, notice: action.done)
            }
        case .removePicture: change(SetProfile(avatar: []), of: account, action.plain, notice: action.done)
        case .changePassword:
            Dialogs.newPassword(over: window, account: account) { [weak self] password in
                self?.atServer(action, account) { try await $0.changePassword(of: $1, to: password) }
            }
        case .clearFiles:
            Dialogs.confirm(over: window, Words.clearQuestion(account), Words.clearHint, Words.remove) { [weak self] in
                self?.change(ClearDownloads(), of: account, action.plain)
            }
        case .export: export(account)
        case .logOut:
            let answers = [(Words.logOutKeeping, false), (Words.logOutRemoving, true)].map { words, isRemoving in
                Dialogs.Answer(words, isRemoving ? ADW_RESPONSE_DESTRUCTIVE : ADW_RESPONSE_SUGGESTED) { [weak self] in
                    self?.logOut(account, removing: isRemoving)
                }
            }
            Dialogs.choose(over: window, Words.logOutQuestion(account), Words.logOutHint, answers)
        case .delete: askDelete(account)
        }
    }

    private func askDelete(_ account: String) {
        Task { [weak self] in
            guard let self else { return }
            let groups = (try? await reader.ownedGroups(of: account)) ?? []
            Dialogs.confirm(
                over: window, Words.deleteQuestion(account), Words.deleteHint(groups), Words.deleteForever
            ) { [weak self] in self?.atServer(.delete, account) { try await $0.unregister($1) } }
        }
    }

    /// Makes a change of an account at its server, and displays the outcome.
    private func atServer(
        _ action: AccountAction, _ account: String,
        _ change: @escaping @Sendable (AccountDirectory, JID) async throws -> AccountTable.ChangeOutcome
    ) {
        let (directory, jid) = (reader.directory, JID.received(account))
        Task { [weak self] in
            do {
                let outcome = try await change(directory, jid)
                let words = Words.outcome(outcome, of: action, on: account)
                if action == .delete { self?.firstStart.notice = words }
                self?.toast(words)
            } catch {
                self?.toast(Words.changeFailed(Words.why(error)))
            }
            self?.accountMayHaveEnded()
        }
    }

    private func logOut(_ account: String, removing: Bool) {
        leaveComposer()
        let (directory, jid) = (reader.directory, JID.received(account))
        Task { [weak self] in
            do {
                let isDone = try await directory.logOut(jid, removing: removing)
                let words = isDone ? Words.loggedOut(account.shownName) : Words.loggingOutLater
                self?.firstStart.notice = words
                self?.toast(words)
            } catch {
                self?.toast(Words.changeFailed(Words.why(error)))
            }
            self?.accountMayHaveEnded()
        }
    }

    /// An engine that has ended with its last account, or that was refused, does what remains when it is started again.
    private func accountMayHaveEnded() {
        backend.tryNow()
        isAllDirty = true
        look()
    }

    /// Closes the conversation, and the settings, of an account that exists no longer.
    func leaveEndedAccount() {
        states = states.filter { accounts.contains($0.key) || $0.value == .connecting }
        showBanner()
        if let account = thread?.key.account, !accounts.contains(account) {
            _ = screen.composer.leave()
            (thread, openRow, contactKey, groupKey) = (nil, nil, nil, nil)
            conversations.open(nil)
            screen.show(name: nil, subtitle: "")
            if side.shown != .settings { leaveSide() }
        }
        if accounts.isEmpty, !isFirstStart { showFirstStart() }
    }
}

extension AccountAction {
    fileprivate var done: ChangeNotice { notice.map { .shown($0) } ?? .spoken }
}
