import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore

/// Begins a new session with a device whose messages cannot be decrypted (in 0.3; in 2 only without a session, or by command): with the
/// keys that the device publishes now, at most once a day, and only if the list of its address, fetched again, still contains it.
struct SessionRepair {
    let step: Step
    private static let day: Int64 = 86_400_000

    /// Handles a message that could not be decrypted.
    /// - Parameter stamp: the stamp of the message; nil if it is newer than all messages read before.
    func failed(
        _ problem: MessageEncryption.Problem, _ known: PeerDevice?, _ element: EncryptedElement, from sender: JID,
        at stamp: Int64?
    ) throws {
        guard sender != step.account.jid || element.sender != 0, let device = try known ?? make(element, sender),
            stamp.map({ $0 > device.readAt }) ?? true
        else { return }
        let fails = try PeerDevices(step: step).failed(device)
        guard mends(problem, device, fails) else { return }
        try schedule(device)
        try EncryptionReadiness(step: step).resume()
    }

    private func mends(_ problem: MessageEncryption.Problem, _ device: PeerDevice, _ fails: Int64) -> Bool {
        switch problem {
        case .keyGone: device.dialect == .axolotl || !device.hasSession
        case .mac, .tooFar: device.dialect == .axolotl && (fails >= 2 || !device.hasSession)
        case .unknownMethod, .beforeDevice, .notForUs, .malformed: false
        }
    }

    /// Creates a row for an unknown device. Strangers have to repair their sessions themselves.
    private func make(_ element: EncryptedElement, _ sender: JID) throws -> PeerDevice? {
        let lists = DeviceLists(step: step, dialect: element.dialect)
        guard try lists.isKnown(sender) else { return nil }
        let list = try lists.make(sender)
        // A list that was just received without the device is not requested again.
        guard try !lists.isFresh(list), try PeerDevices(step: step).mayAdd(to: list) else { return nil }
        return try PeerDevices(step: step).make(element.sender, in: list, isListed: false)
    }

    /// Schedules a new session, for when the archive was read.
    private func schedule(_ device: PeerDevice) throws {
        let now = step.steady.now
        if let last = device.healAt, last <= now, now - last < Self.day { return }
        try PeerDevices(step: step).set(healAt: now, of: device)
        try record(device)
    }

    private func record(_ device: PeerDevice) throws {
        try step.database.run(
            "INSERT OR REPLACE INTO omemo_owed(peer, account, heals) VALUES (?, ?, 1)",
            [.integer(device.id), .integer(step.account.id)])
    }

    /// Schedules a new session by the user's command.
    func command(_ device: PeerDevice) throws {
        try record(device)
        try EncryptionReadiness(step: step).resume()
    }

    /// Requests the lists of the devices, once for all devices of a list.
    func begin() throws {
        let ids = try step.database.statement(
            "UPDATE omemo_owed SET heals = 2 WHERE account = ? AND heals = 1 RETURNING peer"
        ).all([.integer(step.account.id)]) { $0.integer() }
        let devices = try ids.sorted().compactMap { try PeerDevices(step: step).device($0) }
        var asked: Set<Int64> = []
        for device in devices where asked.insert(device.list).inserted {
            let lists = DeviceLists(step: step, dialect: device.dialect)
            let list = try lists.make(device.jid)
            // The own list is kept current by notifications and by the beginning of the session.
            if device.jid == step.account.jid {
                try didReceiveList(list)
            } else if !list.isRequested {
                try lists.request(list)
            }
        }
    }

    /// The list was received: begins sessions with the devices that it still contains.
    func didReceiveList(_ list: PeerList) throws {
        let ids = try step.database.statement(
            """
            DELETE FROM omemo_owed WHERE account = ? AND heals = 2 AND peer IN (SELECT id FROM omemo_peer WHERE list = ?)
            RETURNING peer
            """
        ).all([.integer(step.account.id), .integer(list.id)]) { $0.integer() }
        for id in ids.sorted() {
            guard let device = try PeerDevices(step: step).device(id), device.isListed else { continue }
            // The limits for requests may be exhausted: then this is retried.
            guard try Bundles(step: step).request(device, heals: true) else {
                try record(device)
                continue
            }
            step.emit(KeyPublicationFailed(device, "a new session is begun"))
        }
    }

    /// The session is lost: pending lists will not be received, and the next session requests them again.
    func sessionLost() throws {
        try step.database.run(
            "UPDATE omemo_owed SET heals = 1 WHERE account = ? AND heals = 2", [.integer(step.account.id)])
    }
}
