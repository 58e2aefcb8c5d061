import KalijStore
import KalijXML

/// Corrections, retractions, reactions and replies (XEP-0308, XEP-0424, XEP-0444, XEP-0461) of the account and of others.
final class SimulatedOperations: SimulatedFeature {
    unowned let server: SimulatedServer
    /// By the number of the message in the record.
    private(set) var operations: [Int: SimulatedOperation] = [:]
    /// The ids of the texts that others' replies answer, by the number of the reply.
    private(set) var replies: [Int: String] = [:]
    /// How often the client has sent an operation, by the operation's id.
    private(set) var sent: [String: Int] = [:]

    init(_ server: SimulatedServer) { self.server = server }

    var model: ShownModel { ShownModel(server.archive.messages, operations, account: server.account) }

    // MARK: Of the client

    func sent(_ message: Element, by session: ServerSession) {
        guard let operation = SimulatedOperation(message), let id = message["id"] else { return }
        server.world.counts.changes += 1
        sent[id, default: 0] += 1
        operations[server.feature(SimulatedArchive.self).nextNumber] = operation
        server.messages.file(message, body: nil, of: session)
    }

    // MARK: Of others

    func perform(_ change: Change, from sender: String) {
        let messages = server.archive.messages.filter { $0.body != nil || operations[$0.number] != nil }
        if let early = change.early {
            // The sender has chosen the id of a text that is not written yet.
            let id = "early-\(change.number)"
            act(change, on: id, from: sender)
            return server.world.after(Int64(early) * 1000) { [weak server] in
                server?.messages.receive("in-\(30_000 + change.number)", from: sender, id: id)
            }
        }
        let model = model
        let contact = String(Simulation.contacts[change.contact].prefix { $0 != "/" })
        let isOwner = change.kind == .correct || change.kind == .retract
        let author = String(sender.prefix { $0 != "/" })
        let targets = messages.filter { message in
            guard model.conversation(of: message) == contact else { return false }
            // An operation names a text, or a correction of a text. Now and then the text is somebody else's.
            let isText = message.body != nil || operations[message.number]?.kind == .correction
            return isText
                && (!isOwner || change.author == .stranger || change.number % 8 == 0
                    || model.author(of: message) == author)
        }
        guard !targets.isEmpty else { return }
        let target = targets[max(0, targets.count - 1 - change.age)]
        if change.kind == .reply { return reply(change, to: target, from: sender) }
        act(change, on: target.messageID, from: sender)
    }

    private func act(_ change: Change, on id: String, from sender: String) {
        let operation: SimulatedOperation
        switch change.kind {
        case .correct: operation = .correction(of: id, "edit-\(change.number)")
        case .retract: operation = .retraction(of: id)
        default: operation = .reaction(to: id, SimulatedOperation.emoji(change.emoji, change.number))
        }
        server.world.counts.operations += 1
        operations[server.feature(SimulatedArchive.self).nextNumber] = operation
        server.messages.receive(operation.content + "<store xmlns='urn:xmpp:hints'/>", from: sender)
    }

    private func reply(_ change: Change, to target: ArchivedMessage, from sender: String) {
        let quote = change.age == 0 ? "" : "> \(target.text)\n"
        let fallback = """
            <fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'><body start='0' end='\(quote.count)'/></fallback>
            """
        let mark = "<reply xmlns='urn:xmpp:reply:0' id='\(target.messageID)'/>" + (quote.isEmpty ? "" : fallback)
        replies[server.feature(SimulatedArchive.self).nextNumber] = target.messageID
        server.messages.receive("in-\(31_000 + change.number)", from: sender, quoting: quote, with: mark)
    }
}
