import CAdwaita
import KalijApp

/// The screens beside the lists.
extension MainWindow {
    func connectSide() {
        add("new-group", ["<Control><Shift>n"]) { $0.newGroup() }
        add("details", ["<Control>i"]) { $0.openDetails() }
        connectDevices()
        add("requests", ["<Control><Shift>r"]) { $0.openRequests() }
        conversations.requests.onOpen = { [weak self] in self?.openRequests() }
        conversations.onCreation = { [weak self] action, creation, key in self?.act(action, on: creation, key) }
        screen.onDetails = { [weak self] in self?.openDetails() }
    }

    /// Returns from a side screen to the lists.
    /// - Returns: false if no side screen is shown.
    @discardableResult
    func leaveSide() -> Bool {
        guard let shown = side.shown else { return false }
        defer { side.isAboveContact = false }
        if shown == .devices, side.isAboveContact, contactKey == side.devices.page?.key {
            side.show(.contact)
            side.contact.focus()
            return true
        }
        side.shown = nil
        showLists()
        if thread == nil { focusList() } else { screen.composer.text.focus() }
        return true
    }

    /// Reads the shown side screen and the number of requests again.
    func lookAtSide() async {
        requestPace.run { [weak self] in Task { await self?.lookAtRequests() } }
        lookAtGroup()
        await lookAtContact()
        await lookAtPeople()
        await lookAtDevices()
        await lookAtSettings()
    }

    private func lookAtRequests() async {
        if let count = try? await reader.requestCount() { conversations.requests.show(count) }
        if side.shown == .requests, let requests = try? await reader.requests() { side.requests.show(requests) }
    }
}
