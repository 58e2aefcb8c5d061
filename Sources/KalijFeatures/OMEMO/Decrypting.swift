import KalijAddress
import KalijRatchet
import KalijSteps
import KalijStore

/// Reads the content of a key for this device. Nothing changes unless the whole message holds: the MACs of the ratchet and of the
/// payload.
struct Decrypting {
    let step: Step
    let own: OwnDevice
    let element: EncryptedElement
    /// The stamp of the message.
    let sentAt: Int64
    /// Whether the message is of older history, that was asked for: nothing is sent because of it.
    let isOlder: Bool
    /// Whether the address of the sender is what a room says.
    let isFromRoom: Bool
    /// The bare address of the recipient, or the room.
    let recipient: JID
    /// Whether messages are being read from the archive that may come before this message; most messages need not know.
    let isWhileReading: () throws -> Bool

    private var dialect: Dialect { element.dialect }
    private var sessions: RatchetSessions { RatchetSessions(step: step) }
    private var kept: KeptKeys { KeptKeys(step: step) }

    /// With more missing messages a message waits for the end of the archive's reading.
    private static let mostWhileReading = 100

    /// What a message says.
    enum Content {
        case text(String)
        case envelope(Envelope)
        /// Nothing.
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
        /// The message is to be read later: at this time, or nil, when the archive was read.
        case later(Int64?)
    }

    /// Reads `key`, sent by `sender`.
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

    /// Nil for an error of the machine.
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
        // A session of the message's chain comes first: without it, each session would have to try a new ratchet key.
        let known = try rows.first { row in
            try row.session.hasChain(of: message.header) || kept.key(name, of: row.id) != nil
        }
        var failure: RatchetError?
        for row in known.map({ [$0] }) ?? rows {
            do {
                return try open(message, row, device)
            } catch let error as RatchetError {
                if case .library = error { throw error }
                failure = failure ?? error
            }
        }
        throw failure ?? RatchetError.keyGone
    }

    private func open(_ message: RatchetMessage, _ row: RatchetRow, _ device: PeerDevice) throws -> Outcome {
        if try row.session.distance(to: message.header) > Self.mostWhileReading && isWhileReading() {
            return .later(nil)
        }
        let opened = try row.session.open(message) { try kept.key($0, of: row.id) }
        let content = try content(opened.content, from: device.jid)
        if let used = opened.used { try kept.remove(used, of: row.id) }
        try sessions.save(opened.session, in: row.id, place: isOlder ? nil : sentAt)
        try kept.add(opened.skipped, of: row.id, in: device.list)
        return try read(content, opened.session, device)
    }

    /// - Throws: `RatchetError`
    private func content(_ key: Secret, from sender: JID) throws -> Content {
        guard let payload = try element.payload else { return .empty }
        let bytes = try Payload.open(payload, iv: element.iv, content: key, dialect)
        guard dialect == .axolotl else {
            let envelope = try Envelope(bytes)
            try envelope.check(from: sender, to: recipient, isRoom: isFromRoom)
            return .envelope(envelope)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw RatchetError.malformed("the text") }
        return .text(text)
    }

    // MARK: Beginning a session

    private func open(_ exchange: KeyExchange, _ device: PeerDevice?, from sender: JID) throws -> Outcome {
        if let device, let row = try sessions.all(of: device).first(where: { $0.session.isOf(exchange) }) {
            return try open(exchange.message, row, device)
        }
        // Somebody shows this device's own key.
        let identity = try own.identity
        guard exchange.identity.key != identity.publicIdentity.key else { return .failed(.mac, device) }
        let keys = OwnKeys(step: step, dialect: dialect)
        guard let pair = try keys.signedPair(exchange.signedPrekeyID),
            let (prekey, isUsed) = try keys.prekey(exchange.prekeyID)
        else { return .failed(.keyGone, device) }
        let lists = PeerLists(step: step, dialect: dialect)
        if try !lists.isKnown(sender), let time = try Strangers(step: step).postponed(sender) { return .later(time) }
        let fresh = try Session.accept(exchange, identity, signedPrekey: pair, prekey: prekey, dialect)
        let opened = try fresh.open(exchange.message) { _ in nil }
        let content = try content(opened.content, from: sender)
        guard
            let device = try device
                ?? PeerDevices(step: step).make(element.sender, in: lists.make(sender), isListed: false)
        else { return .failed(.malformed, nil) }
        let row = try sessions.insert(
            opened.session, of: device, place: isOlder ? 0 : sentAt, sends: !isOlder && !isUsed)
        try kept.add(opened.skipped, of: row, in: device.list)
        if !device.isListed { try PeerDevices(step: step).dropUnlisted(device.list, except: device) }
        if isUsed { try sessions.stopSending(begunWith: exchange.prekeyID) }
        try keys.use(exchange.prekeyID)
        try OwnPublisher(step: step, dialect: dialect).changed()
        return try read(content, opened.session, device)
    }

    // MARK: Read

    private func read(_ content: Content, _ session: Session, _ device: PeerDevice) throws -> Outcome {
        let trust = try Trusting(step: step).met(session.theirs.key, of: device, byBundle: !isFromRoom)
        if try isFromRoom && Trusting(step: step).isUnproven(session.theirs.key.bytes, of: device.jid) {
            // The address itself has to show the key.
            try Bundles(step: step).ask(device)
        }
        if !isOlder { try PeerDevices(step: step).set(readAt: sentAt, of: device) }
        if EmptyMessages.areOwed(in: session, !content.isEmpty), !isOlder {
            try EmptyMessages(step: step).owe(to: device)
        }
        return .read(Opened(content: content, key: session.theirs.key, trust: trust))
    }
}

extension Decrypting.Content {
    var isEmpty: Bool { if case .empty = self { true } else { false } }
}
