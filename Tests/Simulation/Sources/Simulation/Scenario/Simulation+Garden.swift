import KalijAddress
import KalijStore

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What happens in the room.
extension Simulation {
    func garden(_ action: GardenAction) {
        let garden = server.feature(SimulatedMUC.self)
        switch action {
        case .join:
            guard let room = try? JID(SimulatedMUC.address) else { return }
            record.hasJoined = share(JoinRoom(room, nick: "juliet"), "join", nil)
        case .say(let number, let operations): say(number, operations)
        case .talk(let number): garden.say("talk-\(number)")
        case .restart(let isTold): garden.restart(isTold: isTold)
        case .push:
            guard let service = try? JID("push.example.net") else { return }
            record.hasPush = share(EnablePush(service, node: "token"), "push", nil)
        case .list(let number): server.feature(SimulatedBookmarks.self).write(number)
        }
    }

    /// Before the room is known a message to the room would go to a person.
    private func say(_ number: Int, _ operations: Int?) {
        guard let account else { return }
        let body = "say-\(number)"
        let isKnown = try? Oracle(self).reading { database in
            try database.prepare("SELECT 1 FROM room").first { _ in true } ?? false
        }
        guard isKnown ?? false else { return }
        let isAccepted = accept(operations: operations) { [world] database in
            let text = try OutgoingText(body, to: try JID(SimulatedMUC.address), id: body)
            _ = try Step.accept(for: account, in: database, clock: world.clock(of: number), text.accept)
        }
        world.trace("   \(body) is \(isAccepted ? "accepted" : "perhaps accepted")")
        if isAccepted { record.sayings.append(body) }
    }
}
