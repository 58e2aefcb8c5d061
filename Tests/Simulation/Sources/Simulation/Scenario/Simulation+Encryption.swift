import CSimulatedMachine
import Glibc
import KalijAddress
import KalijStore

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The encrypted conversation.
extension Simulation {
    func perform(_ action: EncryptedAction) {
        let omemo = server.omemo
        switch action {
        case .turnOn: turnOn()
        case .say(let number, let operations): say(number, operations)
        case .hear(let number, let device): omemo.say("secret-in-\(number)", device)
        case .hearAgain(let isSame): omemo.repeatLast(isSame: isSame)
        case .list(let isListed): omemo.list(isListed: isListed)
        case .enter:
            guard let room = try? JID(SimulatedMUC.address) else { return }
            _ = share(JoinRoom(room, nick: "juliet"), "join", nil)
        case .impersonate: omemo.impersonate()
        case .backUp:
            world.trace("*** a backup")
            machine_back_up()
        case .putBack(let isOtherFile): putBack(isOtherFile: isOtherFile)
        }
    }

    /// The user wants both formats, before anything can go wrong.
    func useOMEMO2() throws {
        machine_run_as(1)
        try setOMEMO2()
        machine_run_as(0)
    }

    private func setOMEMO2() throws {
        let database = try Database(path: directory.databasePath, durability: .machine)
        let account = try AccountTable(database).account(nil, in: directory)
        try EnabledVersions(database: database, account: account.id).set(usesOMEMO2: true)
    }

    private func turnOn() {
        guard let jid = try? JID(SimulatedOMEMO.contact) else { return }
        if share(EncryptConversation(jid, true), "encrypt", nil) { record.isEncrypted = true }
    }

    /// The user says something to the contact. The id does not say the text.
    private func say(_ number: Int, _ operations: Int?) {
        guard let account else { return }
        let (text, id) = ("\(SimulatedOMEMO.secret)\(number)", "e-\(number)")
        server.omemo.name(text, id)
        // After the disk was put back, the conversation's mode is perhaps an old one.
        let privacy: EncryptionPreference = record.isEncrypted && record.restores == 0 ? .asConversation : .encrypted
        let isAccepted = accept(operations: operations) { [world] database in
            let text = try OutgoingText(text, to: try JID(SimulatedOMEMO.contact), id: id, privacy: privacy)
            _ = try Step.accept(for: account, in: database, clock: world.clock(of: number), text.accept)
        }
        world.counts.encrypted += 1
        world.trace("   \(text) is \(isAccepted ? "accepted" : "perhaps accepted")")
        guard isAccepted else {
            record.perhapsSaid.insert(text)
            return
        }
        record.said.append(text)
        record.acceptedIDs.insert(id)
        if server.hasShownPage { record.acceptedLate.insert(text) }
    }

    /// In the calm both sides talk once more, and then again.
    func talkAgain() {
        for (seconds, number) in [(2, 9001), (40, 9002)] as [(Int64, Int)] {
            world.after(seconds * 1_000_000) { [weak self] in
                self?.say(number, nil)
                self?.server.omemo.say("secret-in-\(number)", 0)
            }
        }
    }

    // MARK: An old disk

    /// The disk is put back to the backup while the server goes on.
    private func putBack(isOtherFile: Bool) {
        let all = living
        for process in all { process.onDeath = nil }
        for process in all { process.kill("the disk is put back") }
        endShare()
        guard machine_put_back() != 0 else { return }
        world.counts.restores += 1
        record.restores += 1
        record.saidBefore = Set(record.said).union(record.perhapsSaid)
        server.omemo.restored()
        // Only the archive can show what the old disk does not know; where it cannot, there is another file.
        let isShown = plan.profile.keeps(SimulatedOMEMO.contact) && !plan.actions.contains { $0.kind.forgets }
        if isOtherFile || !isShown { renewFile() }
    }

    /// The file that stands for the database on the real disk: the engine looks at its number.
    func renewFile() {
        let (path, other) = (directory.databasePath, directory.databasePath + "-other")
        close(open(other, O_CREAT | O_WRONLY, 0o600))
        rename(other, path)
    }
}

extension Plan.Kind {
    /// Whether the archive forgets messages.
    var forgets: Bool {
        switch self {
        case .expireArchive, .purgeArchive: true
        default: false
        }
    }
}
