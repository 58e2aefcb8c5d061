import CAdwaita
import KalijApp

/// The screens beside the lists.
extension MainWindow {
    func connectSide() {
        add("new-group", ["<Control><Shift>n"]) { $0.newGroup() }
        add("details", ["<Control>i"]) { $0.openDetails() }
        add("requests", ["<Control><Shift>r"]) { $0.openRequests() }
        conversations.onNewGroup = { [weak self] in self?.newGroup() }
        conversations.requests.onOpen = { [weak self] in self?.openRequests() }
        conversations.onCreation = { [weak self] action, creation, key in self?.act(action, on: creation, key) }
        screen.onDetails = { [weak self] in self?.openDetails() }
    }

    /// Returns from a side screen to the lists.
    /// - Returns: false if no side screen is shown.
    @discardableResult
    func leaveSide() -> Bool {
        guard side.shown != nil else { return false }
        side.shown = nil
        showLists()
        if thread == nil { focusList() } else { screen.composer.text.focus() }
        return true
    }

    /// Reads the shown side screen and the number of requests again.
    func lookAtSide() async {
        if let requests = try? await reader.requests() {
            conversations.requests.show(requests.count)
            if side.shown == .requests { side.requests.show(requests) }
        }
        await lookAtGroup()
        await lookAtContact()
        await lookAtSettings()
    }
}
