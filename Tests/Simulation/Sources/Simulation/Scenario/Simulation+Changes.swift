import CSimulatedMachine
import KalijAddress
import KalijCoordination
import KalijStore

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A change that the user wants.
struct WantedChange {
    /// The changed message's id.
    let target: String
    let kind: Change.Kind
    /// Whether the change is known to be accepted; otherwise it may be.
    let isAccepted: Bool
    /// Whether the change was accepted after the client had read a part of the archive.
    let isLate: Bool
}

/// A reading that the user has told of.
struct WantedReading {
    /// The last read message.
    let target: ArchivedMessage
    let contact: String
    /// Whether the intent is known to be accepted; otherwise it may be.
    let isAccepted: Bool
}

/// Changes of messages.
extension Simulation {
    func change(_ change: Change) {
        switch change.author {
        case .user: changeHere(change)
        case .contact: server.feature(SimulatedOperations.self).perform(change, from: Self.contacts[change.contact])
        case .phone: server.feature(SimulatedOperations.self).perform(change, from: server.account + "/phone")
        case .stranger: server.feature(SimulatedOperations.self).perform(change, from: Self.contacts[2])
        }
    }

    private func changeHere(_ change: Change) {
        let isOwner = change.kind == .correct || change.kind == .retract
        guard let target = target(of: change, isOwn: isOwner ? true : nil) else { return }
        let (id, reference) = ("op-\(change.number)", MessageReference.id(target))
        let isAccepted: Bool
        switch change.kind {
        case .correct:
            isAccepted = share(Correct(reference, body: "edit-\(change.number)"), id, change.operations)
        case .retract: isAccepted = share(Retract(reference), id, change.operations)
        case .react:
            let emoji = SimulatedOperation.emoji(change.emoji, change.number)
            isAccepted = share(React(reference, emoji), id, change.operations)
        case .forget: isAccepted = share(Forget(reference), id, change.operations)
        case .reply: return accept(32_000 + change.number, change.contact, change.operations, answering: reference)
        }
        world.trace("   \(id) \(change.kind) of \(target) is \(isAccepted ? "accepted" : "perhaps accepted")")
        record.changes[id] = WantedChange(
            target: target, kind: change.kind, isAccepted: isAccepted, isLate: server.hasShownPage)
    }

    /// The user, or another device, reads a conversation.
    func read(_ reading: Reading) {
        let feature = server.feature(SimulatedReading.self)
        if reading.isElsewhere { return feature.perform(reading) }
        guard let target = feature.target(of: reading) else { return }
        let contact = SimulatedReading.contact(of: reading)
        guard let jid = try? JID(contact) else { return }
        let id = "read-\(reading.number)"
        if reading.age == 0, reading.operations == nil, let main, main.isAccepting {
            // The client perhaps has not got the newest messages.
            for text in feature.texts(of: contact) { feature.note(text, of: contact) }
            let isAccepted = main.accept(MarkRead(jid), id)
            return world.trace("   reading \(contact) is \(isAccepted ? "accepted" : "perhaps accepted")")
        }
        feature.note(target, of: contact)
        let isAccepted = share(MarkRead(jid, through: .id(target.messageID)), id, reading.operations)
        world.trace("   reading \(target.text) is \(isAccepted ? "accepted" : "perhaps accepted")")
        record.readings[id] = WantedReading(target: target, contact: contact, isAccepted: isAccepted)
    }

    /// The id of a text of the conversation, whether the client has the text or not.
    /// - Parameter isOwn: whether the text is the account's; nil for any text.
    private func target(of change: Change, isOwn: Bool?) -> String? {
        let contact = String(Self.contacts[change.contact].prefix { $0 != "/" })
        let model = server.feature(SimulatedOperations.self).model
        let texts = server.archive.messages.filter { message in
            message.body != nil && model.conversation(of: message) == contact
                && isOwn.map { $0 == message.from.hasPrefix(server.account) } ?? true
        }.map(\.messageID)
        // A text that the server perhaps does not have yet.
        if change.age == 0, let last = record.last[change.contact] { return last }
        return texts.isEmpty ? nil : texts[max(0, texts.count - 1 - change.age)]
    }

    /// Has an intent accepted by the driver, or by a process of its own, perhaps with a kill.
    /// - Returns: whether the intent is known to be accepted.
    func share(_ intent: some Intent, _ id: String, _ operations: Int?) -> Bool {
        if operations == nil, let main, main.isAccepting, world.random.chance(50) { return main.accept(intent, id) }
        guard let number = nextProcess() else { return false }
        defer {
            _ = machine_bury(Int32(number))
            machine_run_as(0)
            planBells()
        }
        machine_run_as(Int32(number))
        if let operations { machine_kill_after(Int32(number), operations) }
        do {
            try directory.share(intent, id: id, clock: world.clock(of: number))
        } catch {
            world.trace("   not accepted: \(error)")
            machine_kill(Int32(number))
            return false
        }
        defer { machine_kill(Int32(number)) }
        return machine_is_dead(Int32(number)) == 0
    }
}
