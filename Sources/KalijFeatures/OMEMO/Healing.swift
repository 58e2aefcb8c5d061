import KalijAddress
import KalijRatchet
import KalijSteps
import KalijStore

/// Begins a new session with a device whose messages cannot be read (in 0.3; in 2 only without a session, or by command): with the keys
/// that the device publishes now, at most once a day, and only if the list of its address, fetched again, still names it.
struct Healing {
    let step: Step
    private static let day: Int64 = 86_400_000

    /// A message could not be read.
    func failed(
        _ problem: MessageEncryption.Problem, _ known: PeerDevice?, _ element: EncryptedElement, from sender: JID,
        at sentAt: Int64
    ) throws {
        guard sender != step.account.jid || element.sender != 0, let device = try known ?? make(element, sender),
            sentAt > device.readAt
        else { return }
        let fails = try PeerDevices(step: step).failed(device)
        guard mends(problem, device, fails) else { return }
        try want(device)
        try Gate(step: step).goOn()
    }

    private func mends(_ problem: MessageEncryption.Problem, _ device: PeerDevice, _ fails: Int64) -> Bool {
        switch problem {
        case .keyGone: device.dialect == .axolotl || !device.hasSession
        case .mac, .tooFar: device.dialect == .axolotl && (fails >= 2 || !device.hasSession)
        case .unknownMethod, .beforeDevice, .notForUs, .malformed: false
        }
    }

    /// A device that nobody knew. Strangers mend their sessions themselves.
    private func make(_ element: EncryptedElement, _ sender: JID) throws -> PeerDevice? {
        let lists = PeerLists(step: step, dialect: element.dialect)
        guard try lists.isKnown(sender) else { return nil }
        return try PeerDevices(step: step).make(element.sender, in: lists.make(sender), isListed: false)
    }

    /// A new session is wanted, as soon as the archive was read.
    private func want(_ device: PeerDevice) throws {
        let now = step.steady.now
        if let last = device.healAt, last <= now, now - last < Self.day { return }
        try PeerDevices(step: step).set(healAt: now, of: device)
        try note(device)
    }

    private func note(_ device: PeerDevice) throws {
        try step.database.run(
            "INSERT OR REPLACE INTO omemo_owed(peer, account, heals) VALUES (?, ?, 1)",
            [.integer(device.id), .integer(step.account.id)])
    }

    /// The user wants a new session.
    func command(_ device: PeerDevice) throws {
        try note(device)
        try Gate(step: step).goOn()
    }

    /// Asks for the lists of the devices.
    func begin() throws {
        let ids = try step.database.statement(
            "DELETE FROM omemo_owed WHERE account = ? AND heals = 1 RETURNING peer"
        ).all([.integer(step.account.id)]) { $0.integer() }
        for id in ids.sorted() {
            guard let device = try PeerDevices(step: step).device(id) else { continue }
            let lists = PeerLists(step: step, dialect: device.dialect)
            // The own list is told by events, and by the beginning of the session.
            if device.jid == step.account.jid {
                try listTold(id)
            } else {
                try lists.ask(lists.make(device.jid), heals: id)
            }
        }
    }

    /// The list of the device's address is known.
    func listTold(_ id: Int64) throws {
        guard let device = try PeerDevices(step: step).device(id), device.isListed else { return }
        step.emit(OMEMOBroken(device, "a new session is begun"))
        try Bundles(step: step).ask(device, heals: true)
    }
}
