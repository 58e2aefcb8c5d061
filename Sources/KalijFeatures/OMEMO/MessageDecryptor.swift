import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore

/// Decrypts a message with one of its keys for this device. No state changes unless the whole message is authentic: the MACs of the
/// ratchet and of the payload.
struct MessageDecryptor {
    let step: Step
    let own: OwnDevice
    let element: EncryptedElement
    /// The time of the message, for people.
    let sentAt: Int64
    /// The stamp of the message; nil if it was delivered as soon as it was sent, and so is newer than all messages read before.
    let stamp: Int64?
    /// Whether the message is of older history, fetched on request: nothing is sent because of it.
    let isOlder: Bool
    /// The entity that identifies the sender.
    let voucher: Voucher
    /// Whether the message is for all occupants of a room.
    let isForRoom: Bool
    /// The bare address of the recipient, or the room.
    let recipient: JID
    /// Whether messages that may precede this one are being read from the archive; evaluated only if required.
    let isWhileReading: () throws -> Bool

    private var dialect: OMEMOVersion { element.dialect }
    private var sessions: RatchetSessions { RatchetSessions(step: step) }
    private var kept: SkippedKeys { SkippedKeys(step: step) }

    /// With more skipped messages, decryption is deferred until the archive was read.
    private static let maxWhileReading = 100

    /// The entity that identifies the sender of a message.
    enum Voucher {
        /// The sender's own server, or the account's.
        case address
        /// A room, which is not trusted.
        case room(RoomRow)
        /// No entity: devices with the sender's id are tried.
        case nobody
    }

    /// The decrypted content of a message.
    enum Content {
        case text(String)
        case envelope(Envelope)
        /// No content.
        case empty
    }

    struct Opened {
        let content: Content
        let key: PublicKey
        let trust: KeyTrust
    }

    enum Outcome {
        case read(Opened)
        case failed(MessageEncryption.Problem, PeerDevice?)
        /// The message is to be decrypted later: at this time, or if nil, after the archive was read.
        case later(Int64?)
    }

    /// Decrypts the message with `key`, sent by `sender`.
    func open(_ key: EncryptedElement.Key, from sender: JID) throws -> Outcome {
        let device = try PeerDevices(step: step).device(element.sender, of: sender, dialect)
        do {
            if key.isExchange { return try open(KeyExchange(key.bytes, dialect), device, from: sender) }
            let message = try RatchetMessage(key.bytes, dialect)
            guard let device else { return .failed(.keyGone, nil) }
            return try open(message, device)
        } catch let error as RatchetError {
            guard let problem = Self.problem(error) else { throw error }
            return .failed(problem, device)
        }
    }

    /// The problem for people; nil for an internal error.
    static func problem(_ error: RatchetError) -> MessageEncryption.Problem? {
        switch error {
        case .malformed, .badKey, .badSignature, .withoutPrekey: .malformed
        case .mac: .mac
        case .keyGone, .exhausted: .keyGone
        case .tooFar: .tooFar
        case .library: nil
        }
    }

    // MARK: In a session

    private func open(_ message: RatchetMessage, _ device: PeerDevice) throws -> Outcome {
        let rows = try sessions.all(of: device)
        guard !rows.isEmpty else { return .failed(.keyGone, device) }
        let name = Session.SkippedKey.Name(key: message.header.key, number: message.header.number)
        // A session with the message's chain has precedence: otherwise, each session would have to try a new ratchet key.
        let known = try rows.first { row in
            try row.session.hasChain(of: message.header) || kept.key(name, of: row.id) != nil
        }
        var failure: RatchetError?
        for row in known.map({ [$0] }) ?? rows {
            do {
                return try open(message, row, after: rows.first, device)
            } catch let error as RatchetError {
                if case .library = error { throw error }
                failure = failure ?? error
            }
        }
        throw failure ?? RatchetError.keyGone
    }

    /// - Parameter newest: the session of the device with the newest message.
    private func open(
        _ message: RatchetMessage, _ row: RatchetRow, after newest: RatchetRow?, _ device: PeerDevice
    ) throws -> Outcome {
        let isProven = try proves(row.session.theirs.key, device)
        if case .nobody = voucher, !isProven { throw RatchetError.mac }
        if try row.session.distance(to: message.header) > Self.maxWhileReading && isWhileReading() {
            return .later(nil)
        }
        let opened = try row.session.open(message) { try kept.key($0, of: row.id) }
        let content = try content(opened.content, from: device.jid)
        if let used = opened.used { try kept.remove(used, of: row.id) }
        try sessions.save(opened.session, in: row.id, place: isOlder || !isProven ? nil : newPlace(after: newest))
        try kept.add(opened.skipped, of: row.id, in: keptShare(of: device, isProven))
        return try read(content, opened.session, device, isProven)
    }

    /// Skipped message keys of unproven devices count against one limit for all of them: they evict no key of a proven device.
    private func keptShare(of device: PeerDevice, _ isProven: Bool) -> Int64 {
        isProven ? device.list : SkippedKeys.unproven
    }

    /// Whether the session's identity key is proven to be the device's, so that the sender holds the private part of `key`. Otherwise
    /// no state of the address changes.
    private func proves(_ key: PublicKey, _ device: PeerDevice) throws -> Bool {
        if let identity = device.identity { return identity == key.bytes }
        return try TrustStore(step: step).trust(in: key.bytes, of: device.jid) != nil
    }

    /// - Throws: `RatchetError`
    private func content(_ key: Secret, from sender: JID) throws -> Content {
        guard let payload = try element.payload else { return .empty }
        let bytes = try Payload.open(payload, iv: element.iv, content: key, dialect)
        guard dialect == .axolotl else {
            let envelope = try Envelope(bytes)
            try envelope.check(from: sender, to: recipient, isRoom: isForRoom)
            return .envelope(envelope)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw RatchetError.malformed("the text") }
        return .text(text)
    }

    // MARK: Beginning a session

    private func open(_ exchange: KeyExchange, _ device: PeerDevice?, from sender: JID) throws -> Outcome {
        let rows = try device.map { try sessions.all(of: $0) } ?? []
        if let device, let row = rows.first(where: { $0.session.isOf(exchange) }) {
            return try open(exchange.message, row, after: rows.first, device)
        }
        // Another device presents this device's own key.
        let identity = try own.identity
        guard exchange.identity.key != identity.publicIdentity.key else { return .failed(.mac, device) }
        let isProven = try isProven(exchange.identity.key, device, of: sender)
        if case .nobody = voucher, !isProven { return .failed(.mac, device) }
        let keys = OwnKeys(step: step, dialect: dialect)
        guard let pair = try keys.signedPair(exchange.signedPrekeyID),
            let (prekey, isUsed) = try keys.prekey(exchange.prekeyID)
        else { return .failed(.keyGone, device) }
        let lists = DeviceLists(step: step, dialect: dialect)
        if let stranger = try stranger(sender), let time = try StrangerSessionLimit(step: step).postponed(stranger) {
            return .later(time)
        }
        let fresh = try Session.accept(exchange, identity, signedPrekey: pair, prekey: prekey, dialect)
        let opened = try fresh.open(exchange.message) { _ in nil }
        let content = try content(opened.content, from: sender)
        guard
            let device = try device
                ?? PeerDevices(step: step).make(element.sender, in: lists.make(sender), isListed: false)
        else { return .failed(.malformed, nil) }
        let place = try isOlder ? 0 : newPlace(after: rows.first)
        let row = try sessions.insert(
            opened.session, of: device, place: isProven ? place : RatchetSessions.unproven,
            sends: isProven && !isOlder && !isUsed)
        try kept.add(opened.skipped, of: row, in: keptShare(of: device, isProven))
        if !device.isListed { try PeerDevices(step: step).dropUnlisted(device.list, except: device) }
        if isUsed, isProven { try sessions.stopSending(begunWith: exchange.prekeyID) }
        try keys.use(exchange.prekeyID)
        try KeyPublisher(step: step, dialect: dialect).changed()
        return try read(content, opened.session, device, isProven)
    }

    /// The place of the session that reads this message. A stamp is the server's, and this machine's clock may be wrong: so what is
    /// delivered at once is placed by the order of arrival.
    private func newPlace(after newest: RatchetRow?) throws -> Int64 {
        try stamp ?? sessions.place(after: newest?.place)
    }

    /// Whether `sender` itself has presented `key`, or the key is already proven to be the sender's.
    private func isProven(_ key: PublicKey, _ device: PeerDevice?, of sender: JID) throws -> Bool {
        switch voucher {
        case .address: return true
        case .nobody where device?.identity == nil: return false
        case .room, .nobody:
            if let device { return try proves(key, device) }
            return try TrustStore(step: step).trust(in: key.bytes, of: sender) != nil
        }
    }

    /// The address whose quota a session begun by a stranger counts against, since a room can report any sender; nil for no quota.
    private func stranger(_ sender: JID) throws -> JID? {
        if try DeviceLists(step: step, dialect: dialect).isKnown(sender) { return nil }
        guard case .room(let room) = voucher else { return sender }
        return try Members.contain(sender, of: room, in: step.database) ? nil : room.jid
    }

    // MARK: Read

    private func read(
        _ content: Content, _ session: Session, _ device: PeerDevice, _ isProven: Bool
    ) throws -> Outcome {
        let (key, trusting) = (session.theirs.key, TrustStore(step: step))
        guard isProven else {
            if device.identity == nil, !isOlder { try prove(device) }
            let trust = try trusting.trust(in: key.bytes, of: device.jid) ?? .undecided
            return .read(Opened(content: content, key: key, trust: trust))
        }
        let trust = try trusting.met(key, of: device)
        // Possibly only the server claims this key, and the former one is the device's: the bundle decides.
        if !trust.isUsed, device.identity.map({ $0 != key.bytes }) ?? false { try Bundles(step: step).request(device) }
        if !isOlder { try PeerDevices(step: step).set(readAt: sentAt, of: device) }
        if EmptyMessages.areDue(in: session, !content.isEmpty), !isOlder {
            try EmptyMessages(step: step).enqueue(to: device)
        }
        return .read(Opened(content: content, key: key, trust: trust))
    }

    /// Requests proof of the key of a device that only a room has named, from the address itself.
    private func prove(_ device: PeerDevice) throws {
        if device.isListed {
            guard device.badUntil ?? 0 <= step.steady.now else { return }
            try Bundles(step: step).request(device)
            return
        }
        let lists = DeviceLists(step: step, dialect: dialect)
        guard let list = try lists.list(of: device.jid), !list.isRequested, try !lists.isFresh(list) else { return }
        try lists.request(list)
    }
}

extension MessageDecryptor.Content {
    var isEmpty: Bool { if case .empty = self { true } else { false } }
}
