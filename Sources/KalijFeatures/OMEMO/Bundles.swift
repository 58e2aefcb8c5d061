import KalijHandlers
import KalijRatchet
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// Requests the bundles of devices, and begins sessions.
struct Bundles {
    let step: Step

    /// For each list, because a contact may list other devices again and again: twice the number of devices that a list may have.
    static let pace = RequestPace(128, atOnceThen: .seconds(30), upTo: .seconds(3600))
    /// The timeout for a response of another account's server.
    private static let timeout = Duration.seconds(60)
    private static let maxAttempts = 2
    /// How long a device without usable keys is excluded; and one whose keys are temporarily unavailable.
    private static let (long, short) = (Duration.seconds(24 * 3600), Duration.seconds(600))

    /// Requests the bundle of `device`, if not too many requests are pending.
    /// - Parameters:
    ///   - heals: whether a session is begun although there is one.
    ///   - attempt: the number of the request, incremented after a timeout.
    /// - Returns: false if too many requests are pending, or one for this device, or if the list has exceeded its pace. A timer then
    ///   retries all waiting messages: the request itself is not queued, because the list may no longer have the device by then.
    @discardableResult
    func request(_ device: PeerDevice, heals: Bool = false, attempt: Int = 1) throws -> Bool {
        guard !device.isRequested, try PeerDevices(step: step).mayRequest(device.list) else { return false }
        let (pacing, key) = (Pacing(step: step), "\(device.list)")
        let wait = try pacing.wait(BundleResponse.name, key, Self.pace)
        guard wait == 0 else {
            if try !Timers(step: step).isWaiting(BundleLookupTimer.name, within: wait) {
                try step.schedule(BundleLookupTimer(), after: .milliseconds(wait))
            }
            return false
        }
        try pacing.acquire(BundleResponse.name, key, Self.pace)
        try PeerDevices(step: step).set(isAsked: true, of: device)
        let dialect = device.dialect
        try step.send(
            Nodes.items(
                of: dialect.bundleNode(device.device),
                id: dialect == .axolotl ? nil : dialect.bundleItem(device.device), at: device.jid),
            then: BundleResponse(peer: device.id, list: device.list, heals: heals, attempt: attempt),
            within: Self.timeout)
        return true
    }

    fileprivate func answered(_ reply: IQReply, _ device: PeerDevice, heals: Bool, attempt: Int) throws {
        let devices = PeerDevices(step: step)
        try devices.set(isAsked: false, of: device)
        switch reply {
        // Servers lose responses: a single timeout does not exclude a device.
        case .timeout where attempt < Self.maxAttempts:
            if let device = try devices.device(device.id), try request(device, heals: heals, attempt: attempt + 1) {
                return
            }
        case .timeout: try devices.leaveOut(device, "its server does not answer", for: Self.short)
        case .error(let error, _):
            let isLate = error.isUnreachable || error.kind == .wait
            try devices.leaveOut(device, "\(error)", for: isLate ? Self.short : Self.long)
        case .result(let answer):
            let content = Nodes.content(of: device.dialect.bundleNode(device.device), in: answer)
            do {
                guard let content, let bundle = BundleElement(content, device.dialect) else {
                    throw RatchetError.malformed("the bundle")
                }
                try begin(bundle, device, heals: heals)
            } catch let error as RatchetError {
                try devices.leaveOut(device, "\(error)", for: Self.long)
            }
        }
        try EncryptionQueue(step: step).retryAll()
    }

    /// Begins a session with a device.
    /// - Throws: `RatchetError` for a bundle that cannot be used.
    private func begin(_ element: BundleElement, _ device: PeerDevice, heals: Bool) throws {
        guard let own = try OwnDevice.load(step.account.id, from: step.database) else { return }
        let bundle = try element.chosen(device.dialect)
        let rows = RatchetSessions(step: step)
        // All checks of the bundle's keys have to pass, also if the bundle only proves a key.
        let identity = try own.identity
        let session = try Session.begin(identity, bundle, device.dialect)
        guard session.theirs.key != identity.publicIdentity.key else { throw RatchetError.badKey }
        try TrustStore(step: step).met(session.theirs.key, of: device)
        // A session that still sends uses this key.
        if try !heals && rows.sending(device) != nil { return }
        let newest = try rows.all(of: device).first?.place
        try rows.add(session, of: device, place: rows.place(after: newest), sends: true)
        if heals { try EmptyMessages(step: step).enqueue(to: device) }
    }
}

/// Handles the response to a request for a bundle.
struct BundleResponse: InvalidatableHandler {
    static let name = "omemo.bundle"
    let peer: Int64
    /// The list that names the device; nil in a database of an earlier release.
    let list: Int64?
    /// Whether a session is begun although there is one.
    let heals: Bool
    let attempt: Int?

    func call(_ reply: IQReply, in step: Step) throws {
        guard let device = try PeerDevices(step: step).device(peer) else { return }
        try Bundles(step: step).answered(reply, device, heals: heals, attempt: attempt ?? 1)
    }

    /// The next session requests the bundle again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Bundles may be requested again.
struct BundleLookupTimer: Handler {
    static let name = "omemo.keys-due"

    func call(_: Void, in step: Step) throws { try EncryptionQueue(step: step).retryAll() }
}
