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
            Announcer.say(requests.isEmpty ? Words.noRequests : Words.requests)
            fetchPictures(of: requests)
        }
    }

    /// Fetches the pictures of those whose requests are shown, which announced one, and the names and pictures of the groups.
    private func fetchPictures(of requests: [RequestRow]) {
        for request in requests.prefix(Self.mostPictures) {
            for intent in lookups(for: request) {
                Task { _ = try? await backend.accept(intent, for: request.key.account) }
            }
        }
    }

    private func lookups(for request: RequestRow) -> [any Intent] {
        let room: JID? = request.kind == .invitation ? .received(request.key.jid) : nil
        let isPictured = request.picture != nil
        let intents: [(any Intent)?] = [
            isPictured ? nil : request.address.map { FetchProfile(.received($0), vcard: false) },
            request.group == nil ? room.map { DescribeInvitation($0) } : nil,
            isPictured ? nil : room.map { FetchProfile($0) },
        ]
        return intents.compactMap { $0 }
    }

    /// How many pictures are fetched when a list is opened.
    static var mostPictures: Int { 20 }

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
