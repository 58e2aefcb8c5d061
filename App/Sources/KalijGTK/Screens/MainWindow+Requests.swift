import CAdwaita
import KalijAddress
import KalijApp
import KalijClient

/// Invitations and contact requests.
extension MainWindow {
    func openRequests() {
        side.requests.onBack = { [weak self] in self?.goBack() }
        side.requests.onChosen = { [weak self] request in self?.ask(request) }
        Task {
            let requests = (try? await reader.requests()) ?? []
            side.requests.show(requests)
            side.show(.requests)
            side.requests.focus()
            fetchPictures(of: requests)
        }
    }

    /// Fetches the pictures of those whose requests are shown, which announced one.
    private func fetchPictures(of requests: [RequestRow]) {
        for request in requests.prefix(Self.mostPictures) where request.picture == nil {
            guard let address = request.address else { continue }
            let intent = FetchProfile(.received(address), vcard: false)
            Task { _ = try? await backend.accept(intent, for: request.key.account) }
        }
    }

    private static let mostPictures = 20

    private func ask(_ request: RequestRow) {
        let body = [request.details, request.text].filter { !$0.isEmpty }.joined(separator: "\n")
        Dialogs.request(over: window, request.question, body) { [weak self] isAccepted in
            guard let self else { return }
            let jid = JID.received(request.key.jid)
            let what = isAccepted ? Words.accept : Words.decline
            let intent: any Intent =
                switch (request.kind, isAccepted) {
                case (.invitation, true): JoinRoom(jid)
                case (.invitation, false): DeclineInvitation(jid)
                // Both see each other from then on.
                case (.contact, true): AddContact(jid)
                case (.contact, false): DenyRequest(jid)
                }
            change(intent, of: request.key.account, what)
        }
    }
}
