import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore
import KalijText

/// Decrypts an encrypted message from any source.
struct EncryptedMessageReceiver {
    let step: Step
    let own: OwnDevice
    let element: EncryptedElement

    /// The number of devices that are tried if a room does not identify the sender.
    private static let maxSenders = 8
    /// In milliseconds. Stamps are not trustworthy, and one in the far future would prevent later sessions from sending.
    private static let maxAhead: Int64 = 86_400_000

    /// Handles a message with an `<encrypted/>` element.
    static func arrived(_ message: inout IncomingMessage, in step: Step) throws {
        guard message.isKept else { return }
        let own = try OwnDevice.load(step.account.id, from: step.database)
        guard let element = EncryptedElement.meant(for: own?.id, of: step.account.jid, in: message.element) else {
            let namespace = OMEMOVersion.allCases.map(\.namespace).first {
                message.element.child("encrypted", $0) != nil
            }
            message.encryption = MessageEncryption(namespace ?? "", problem: .malformed)
            return
        }
        message.encryption = MessageEncryption(element.dialect.namespace, device: element.sender, problem: .notForUs)
        guard let own else { return }
        try EncryptedMessageReceiver(step: step, own: own, element: element).arrived(&message)
    }

    private func arrived(_ message: inout IncomingMessage) throws {
        let (senders, voucher) = try senders(of: message)
        // A message that this device has encrypted is matched with its own row; no device can decrypt it again.
        if element.sender == own.id, senders == [step.account.jid] { return }
        let keys = element.keys(for: own.id, of: step.account.jid.description)
        guard !keys.isEmpty else {
            let isEarlier = message.sentAt < own.madeAt && message.source == .archive
            return fail(isEarlier ? .beforeDevice : .notForUs, &message)
        }
        var failure: (problem: MessageEncryption.Problem, digest: [UInt8], device: PeerDevice?)?
        for sender in senders {
            for key in keys {
                let digest = try SeenCiphertexts.digest(key.bytes, of: element.sender, sender)
                if try isKnown(digest, &message) { return }
                switch try decrypting(message, voucher).open(key, from: sender) {
                case .read(let opened): return try read(opened, digest, &message)
                case .later(let time): return try postpone(&message, until: time)
                case .failed(let problem, let device): failure = failure ?? (problem, digest, device)
                }
            }
        }
        fail(failure?.problem ?? .notForUs, &message)
        guard let failure else { return }
        message.digest = message.twin == nil ? failure.digest : nil
        if case .nobody = voucher { return }
        if !message.isOlder, let sender = senders.first {
            try SessionRepair(step: step).failed(
                failure.problem, failure.device, element, from: sender, at: stamp(of: message))
        }
    }

    private func decrypting(_ message: IncomingMessage, _ voucher: MessageDecryptor.Voucher) throws -> MessageDecryptor
    {
        MessageDecryptor(
            step: step, own: own, element: element, sentAt: min(message.sentAt, step.now + Self.maxAhead),
            stamp: stamp(of: message), isOlder: message.isOlder, voucher: voucher,
            isForRoom: message.type == "groupchat",
            recipient: message.direction == .incoming && message.type != "groupchat"
                ? step.account.jid : JID.received(message.conversation).bare,
            isWhileReading: { [message] in try isWhileReading(message) })
    }

    /// The stamp of an archive, or of a delayed delivery; nil for a message that was delivered at once.
    private func stamp(of message: IncomingMessage) -> Int64? {
        let stamp = message.source == .archive ? message.sentAt : IncomingMessage.delay(in: message.element)
        return stamp.map { min($0, step.now + Self.maxAhead) }
    }

    /// Whether older messages of the same archive are still being read.
    private func isWhileReading(_ message: IncomingMessage) throws -> Bool {
        // Of all live messages only those of the history of a group without an archive have no author: there is no archive to wait for.
        guard message.source != .archive, message.type != "groupchat" || message.author != nil || message.isOurs == true
        else { return false }
        let archive = message.archive.isEmpty ? Archive.own : Archive(key: message.archive)
        if let phase = try ArchiveSync(step: step, archive: archive).round()?.phase { return phase != .done }
        return try archive.isOwn && SessionRow.load(step.account.id, from: step.database).archive
    }

    /// The possible senders of the message, and the entity that identifies them.
    private func senders(of message: IncomingMessage) throws -> ([JID], MessageDecryptor.Voucher) {
        let isPrivate = !JID.received(message.conversation).isBare
        guard message.type == "groupchat" || isPrivate && message.direction == .incoming else {
            return ([message.sender.bare], .address)
        }
        let rooms = RoomRows(database: step.database, account: step.account.id)
        guard let room = try rooms.room(.received(message.conversation)) else { return ([], .nobody) }
        if message.isOurs ?? false { return ([step.account.jid], .room(room)) }
        if let author = message.author.flatMap(RoomAuthor.address(of:)) { return ([.received(author)], .room(room)) }
        // Encryption is used only in groups, and a group's archive may omit the sender.
        guard message.type == "groupchat", room.info.isGroup else { return ([], .nobody) }
        let devices = try PeerDevices(step: step)
            .devices(called: element.sender, element.dialect, limit: Self.maxSenders)
        return (devices.map(\.jid), .nobody)
    }

    // MARK: Outcomes

    /// If the content was received before, the message only supplies its id and its place. A message that could not be decrypted is
    /// retried.
    private func isKnown(_ digest: [UInt8], _ message: inout IncomingMessage) throws -> Bool {
        guard case .before(let row) = try SeenCiphertexts(step: step).find(for: digest) else { return false }
        guard let row, let stored = try Message.load(row, from: step.database) else {
            hide(&message)
            message.isKept = false
            return true
        }
        // A room may have reflected a content that is for the account alone. If it could not be decrypted there, it is not displayed
        // there.
        if stored.encryption?.problem != nil, stored.conversation.exact != message.conversation.exact { return false }
        message.twin = row
        (message.encryption, message.isShown) = (stored.encryption, stored.isShown)
        return stored.encryption?.problem == nil
    }

    private func read(_ opened: MessageDecryptor.Opened, _ digest: [UInt8], _ message: inout IncomingMessage) throws {
        try SeenCiphertexts(step: step).add(digest)
        try EncryptionReadiness(step: step).resume()
        let encryption = MessageEncryption(
            element.dialect.namespace, device: element.sender, fingerprint: Fingerprint(opened.key).hex,
            trust: opened.trust)
        message.encryption = encryption
        let content: MessageContent
        switch opened.content {
        case .empty: return hide(&message)
        case .text(let text): content = MessageContent(sealed: text, in: message.element)
        case .envelope(let envelope):
            message.element = envelope.opened(message.element)
            content = MessageContent(of: message.element, type: message.type)
            if message.direction == .incoming {
                try OMEMOFeature.detectOptOut(message, isProven: opened.trust.isUsed, in: step)
            }
        }
        (message.body, message.file) = (content.text, content.file)
        // A content without a displayable part is handled by other features, such as a marker.
        (message.isKept, message.isShown) = (content.isLine || message.stanzaID != nil, content.isLine)
        guard content.isLine else { return message.digest = digest }
        if let twin = message.twin { return try mend(twin, digest, content, encryption) }
        message.digest = digest
        if opened.trust != .distrusted {
            try ConversationEncryption(step: step).recordEncrypted(in: message.conversation)
        }
    }

    /// The message in the row `twin`, which could not be decrypted before, is updated.
    private func mend(
        _ twin: Int64, _ digest: [UInt8], _ content: MessageContent, _ encryption: MessageEncryption
    ) throws {
        try SeenCiphertexts(step: step).set(twin, of: digest)
        try EncryptionFeature.mended(twin, in: step)
        try MessageWriter(step: step).mend(twin, body: content.text, encryption)
        if let file = content.file { try ReceivedFiles(step: step).offer(file, of: twin) }
        let mended = try Message.load(twin, from: step.database)
        if let mended, mended.isShown {
            try EventPublisher(step: step).publish(MessageChanged(mended.withFile(in: step.database)))
        }
    }

    private func fail(_ problem: MessageEncryption.Problem, _ message: inout IncomingMessage) {
        guard element.hasPayload else { return hide(&message) }
        let trust = message.encryption?.trust
        message.encryption = MessageEncryption(
            element.dialect.namespace, device: element.sender, trust: trust, problem: problem)
    }

    /// An empty message is not displayed in the conversation.
    private func hide(_ message: inout IncomingMessage) {
        (message.encryption, message.body, message.isShown) = (nil, nil, false)
        message.isKept = message.stanzaID != nil
    }

    private func postpone(_ message: inout IncomingMessage, until time: Int64?) throws {
        guard try DeferredMessages(step: step).put(message, until: time) else { return fail(.tooFar, &message) }
        (message.isKept, message.isShown) = (false, false)
    }
}
