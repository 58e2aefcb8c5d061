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
            Announcer.say(page.spoken)
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
        case .name:
            Dialogs.ask(over: window, action.plain, Words.deviceName, device.name ?? "") {
                change(NameDevice(cleaning: $0))
            }
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
        let purpose = CodeDialog.Purpose(
            heading: Words.readCodeOf(name), hint: Words.readCodeHint, example: "xmpp:…?omemo-sid-…",
            action: Words.verify)
        CodeDialog(over: window, purpose) { [weak self] texts in
            let outcome = CodeOutcome(texts, for: page)
            let words = outcome.words(name)
            switch outcome {
            case .verifies(let uri, _):
                self?.change(VerifyKeys(uri), of: page.key.account, Words.verify) { _ in self?.toast(words) }
            case .otherKey: if let self { Dialogs.warning(over: window, Words.keysDiffer, words) }
            case .otherAddress, .thisDevice, .noCode: return words
            }
            return nil
        }
    }

    // MARK: Encryption

    /// Encrypts a conversation; once the servers have said who has keys, displays who has none.
    /// - Parameter what: the change in words.
    func encrypt(_ key: ConversationKey, _ what: String) {
        change(EncryptConversation(.received(key.jid), true), of: key.account, what, notice: .none) { [weak self] _ in
            Task {
                guard let self else { return }
                for interval in Self.keyLookups where (try? await self.reader.encryptionOutcome(key)) == .pending {
                    try? await Task.sleep(for: interval)
                }
                self.isAllDirty = true
                self.look()
                guard case .keyless(let words)? = try? await self.reader.encryptionOutcome(key) else {
                    return Announcer.say(Words.changed(what))
                }
                self.toast(words)
            }
        }
    }

    /// How often it is read whether the servers have answered; without a connection none does.
    private static let keyLookups = Array(repeating: Duration.milliseconds(50), count: 100)

    // MARK: Undecided keys

    /// Requests the decision on new keys if there are some, or on a conversation in which nobody has keys.
    /// - Parameter decided: called when the decision is stored, with whether the text is sent without encryption.
    /// - Returns: whether nothing may be sent yet.
    func mustDecide(in key: ConversationKey, decided: @escaping (_ isPlain: Bool) -> Void) async -> Bool {
        defer { keylessAttempt = nil }
        switch try? await reader.keyQuestion(key) {
        case .undecided(let keys)?: ask(keys, in: key) { decided(false) }
        case .keyless(let heading)? where keylessAttempt != key:
            Dialogs.keyless(
                over: window, heading, plain: { [weak self] in self?.stopEncrypting(key) { decided(true) } },
                encrypted: { decided(false) })
        case .keyless?, nil: return false
        }
        return true
    }

    private func stopEncrypting(_ key: ConversationKey, _ done: @escaping () -> Void) {
        let intent = EncryptConversation(.received(key.jid), false)
        change(intent, of: key.account, ContactAction.encrypt(false).plain) { _ in done() }
    }

    private func ask(_ keys: UndecidedKeys, in key: ConversationKey, _ decided: @escaping () -> Void) {
        Dialogs.undecided(over: window, keys.words) { [weak self] answer in
            switch answer {
            case .trust: self?.decide(keys.intents(.blind), in: key, decided)
            case .distrust: self?.decide(keys.intents(.distrusted), in: key, decided)
            case .look: self?.openDevices(keys.first)
            }
        }
    }

    private func decide(_ intents: [TrustKey], in key: ConversationKey, _ decided: @escaping () -> Void) {
        var left = intents.count
        for intent in intents {
            change(intent, of: key.account, Words.decided) { _ in
                left -= 1
                if left == 0 { decided() }
            }
        }
    }

    /// Requests the decision on new keys before a text leaves, which is sent after it.
    /// - Parameter text: the text, which the composer has again until then.
    /// - Returns: whether nothing may be sent yet.
    func mustDecide(in key: ConversationKey, before text: String) async -> Bool {
        await mustDecide(in: key) { [weak self] isPlain in
            guard let self, thread?.key == key, screen.composer.written == text else { return }
            // The question is not asked again on the way.
            keylessAttempt = isPlain ? nil : key
            screen.composer.submit()
        }
    }
}
