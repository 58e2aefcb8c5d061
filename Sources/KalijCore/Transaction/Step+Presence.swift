import KalijStore
import KalijXML

extension Step {
    /// Sends the first presence of the session (RFC 6121 section 4.2) as soon as no feature defers it
    /// (``SessionObserver/defersPresence(in:)``). From then on the server delivers messages.
    package func announcePresence() throws {
        guard try !hooks.sessionObservers.contains(where: { try $0.defersPresence(in: self) }) else { return }
        try database.run("UPDATE session SET available = 1 WHERE account = ? AND available = 0", [.integer(account.id)])
        guard database.changes > 0 else { return }
        try send(Element("presence", xmlns: "jabber:client", children: features.capabilities.elements))
        for observer in hooks.sessionObservers { try observer.didSendInitialPresence(in: self) }
    }
}
