import CAdwaita
import KalijApp
import KalijClient

/// The devices of a contact or of the account, and the decisions on their keys.
extension MainWindow {
    func connectDevices() {
        add("own-devices", ["<Control><Shift>d"]) { it in
            if let account = it.thread?.key.account ?? it.accounts.first {
                it.openDevices(ConversationKey(account: account, jid: account))
            }
        }
        add("marks", []) { Dialogs.marks(over: $0.window) }
        screen.onKeys = { [weak self] line in
            if let self, let thread { openDevices(ConversationKey(account: thread.key.account, jid: line.jid)) }
        }
    }

    func openDevices(_ key: ConversationKey) {
        let screen = side.devices
        screen.onBack = { [weak self] in self?.goBack() }
        screen.onDevice = { [weak self] action, device, page in self?.act(action, on: device, page) }
        screen.onShowCode = { [weak self] page in self?.showCode(page) }
        screen.onReadCode = { [weak self] page in self?.readCode(page) }
        screen.onMarks = { [weak self] in if let self { Dialogs.marks(over: window) } }
        Task {
            guard let page = try? await reader.devices(key) else { return }
            screen.show(page)
            side.show(.devices)
            screen.focus()
        }
    }

    /// Reads the devices again if they are shown.
    func lookAtDevices() async {
        guard side.shown == .devices, let key = side.devices.page?.key, let page = try? await reader.devices(key) else {
            return
        }
        side.devices.show(page)
    }

    private func act(_ action: DeviceAction, on device: DeviceRow, _ page: DevicesPage) {
        let change = { [weak self] (intent: (any Intent)?) -> Void in
            guard let self, let intent else { return }
            self.change(intent, of: page.key.account, Words.on(device.title, action.plain))
        }
        switch action {
        case .verify:
            Dialogs.compare(
                over: window, Words.compareQuestion(page.isOwn ? device.title : page.name), device.digits
            ) { isEqual in change(device.intent(isEqual ? .verified : .distrusted, on: page.key)) }
        case .trust, .distrust: change(device.intent(action, on: page.key))
        case .remove:
            Dialogs.confirm(
                over: window, Words.removeDeviceQuestion(device.title), Words.removeDeviceHint, Words.remove
            ) { change(device.intent(action, on: page.key)) }
        }
    }

    // MARK: Codes

    private func showCode(_ page: DevicesPage) {
        guard let code = page.code, let key = page.fingerprint else { return }
        Dialogs.showCode(over: window, code, page.key.account, key.description)
    }

    private func readCode(_ page: DevicesPage) {
        let name = page.isOwn ? page.key.account : page.name
        CodeDialog(over: window, page) { [weak self] uri, count in
            self?.change(VerifyKeys(uri), of: page.key.account, Words.verify) { [weak self] _ in
                self?.toast(CodeOutcome.verifies(uri: uri, count: count).words(name))
            }
        } conflict: { [weak self] words in
            if let self { Dialogs.warning(over: window, Words.keysDiffer, words) }
        }
    }

    // MARK: Undecided keys

    /// Requests the decision on new keys, if there are some, and then submits what the composer has.
    /// - Parameter text: what is to be sent, and is given back until then.
    /// - Returns: whether nothing may be sent yet.
    func mustDecide(in key: ConversationKey, before text: String) async -> Bool {
        guard let keys = try? await reader.undecided(key) else { return false }
        Dialogs.undecided(over: window, keys.words) { [weak self] answer in
            switch answer {
            case .trust: self?.decide(keys.intents(.blind), in: key, before: text)
            case .distrust: self?.decide(keys.intents(.distrusted), in: key, before: text)
            case .look: self?.openDevices(keys.first)
            }
        }
        return true
    }

    private func decide(_ intents: [TrustKey], in key: ConversationKey, before text: String) {
        var left = intents.count
        for intent in intents {
            change(intent, of: key.account, Words.decided) { [weak self] _ in
                left -= 1
                guard let self, left == 0, thread?.key == key, screen.composer.written == text else { return }
                screen.composer.submit()
            }
        }
    }
}
