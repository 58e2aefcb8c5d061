import KalijAddress
import KalijHandlers
import KalijRatchet
import KalijCore
import KalijStore
import KalijXML

/// End-to-end encryption (XEP-0384). The ratchets are in `KalijRatchet`; only the driving process uses them. A message's text, its
/// session, its keys and the handled count are committed in one step.
enum OMEMOFeature: Feature, SessionObserver, AccountObserver, ArchiveObserver, MessageProcessor, StoredMessageObserver,
    OutgoingMessageInterceptor, WorkReporter
{
    static let name = "omemo"
    static let announced = [OMEMOVersion.axolotl.listNode + "+notify"]

    static var handlers: [any Handler<Step>.Type] {
        [
            KeyPublishResponse.self, BundleRefreshTimer.self, KeyRotationTimer.self, ListRepublishTimer.self,
            DeviceListResponse.self, DeviceListSubscribeResponse.self,
            BundleResponse.self, DeferredMessageTimer.self, KeyLookupTimer.self, BundleLookupTimer.self,
            DeviceRemovalResponse.self,
        ]
    }
    static var events: [any EventContent.Type] {
        [
            OMEMONewKey.self, OMEMOKeyChanged.self, OMEMOUndecided.self, KeyPublicationFailed.self, OMEMORestored.self,
            DeviceListConflict.self,
        ]
    }
    static var intents: [any Intent.Type] {
        [
            EncryptConversation.self, TrustKey.self, VerifyKeys.self, HealSession.self, ResetKeys.self,
            UseOMEMO2.self, RemoveDevice.self, NameDevice.self,
        ]
    }

    static func status(of account: Account, in database: Database) throws -> [EventField] {
        try OwnDevice.id(of: account.id, in: database).map { [EventField(.device, .integer(Int64($0)))] } ?? []
    }

    // MARK: The session

    static func didLoseSession(in step: Step) throws {
        try EncryptionReadiness(step: step).sessionLost()
        try DeviceLists.sessionLost(in: step)
        try Requests(step: step).forget(KeyPublishResponse.name, unqueueing: true)
        for dialect in OMEMOVersion.allCases { try KeyPublisher(step: step, dialect: dialect).handle(.sessionLost) }
    }

    static func didDiscover(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {
        guard entity == .account, case .known(let info) = answer else { return }
        guard info.identities.contains(where: { $0.category == "pubsub" && $0.type == "pep" }) else {
            return try KeyPublisher(step: step, dialect: .axolotl).cannotBegin()
        }
        for dialect in try EnabledVersions(step: step).all { try KeyPublisher(step: step, dialect: dialect).began() }
        try BackupRestoreGuard(step: step).checkFile()
        if !info.supports("urn:xmpp:mam:2") { try EncryptionReadiness(step: step).archiveRead() }
    }

    static func didResumeSession(in step: Step) throws { try BackupRestoreGuard(step: step).checkFile() }

    static func didDetectCounterMismatch(in step: Step) throws {
        try BackupRestoreGuard(step: step).found("the server has counted more than was sent")
    }

    static func didSyncArchive(in step: Step) throws { try EncryptionReadiness(step: step).archiveRead() }

    static func prepareLogout(in step: Step) throws -> [String] { try DeviceRemoval(step: step).leave() }

    static func didLogOut(in step: Step) throws { try DeviceRemoval(step: step).forget() }

    // MARK: Incoming

    static func process(_ message: inout IncomingMessage, in step: Step) throws {
        if NodeEvent.isMeant(by: message.element), let event = NodeEvent(message),
            let dialect = OMEMOVersion.allCases.first(where: { $0.listNode == event.node })
        {
            message.isKept = false
            return try received(event, dialect, by: message.sender, in: step)
        }
        if message.direction == .incoming, message.type == "chat", hasOptOut(message.element) {
            try detectOptOut(message, isProven: false, in: step)
        }
        guard !EncryptedElement.isMeant(by: message.element) else {
            return try EncryptedMessageReceiver.arrived(&message, in: step)
        }
        guard message.isShown, message.encryption == nil,
            try ConversationEncryption(step: step).isEncrypted(message.conversation)
        else { return }
        message.encryption = .plain
    }

    /// Handles an opt-out in the stanza, or in its envelope: the other side requests that messages are no longer encrypted.
    /// - Parameter isProven: whether the sender is authenticated end to end. Otherwise nothing changes, and only an event is emitted.
    static func detectOptOut(_ message: IncomingMessage, isProven: Bool, in step: Step) throws {
        guard hasOptOut(message.element),
            try ConversationEncryption(step: step).isEncrypted(message.conversation)
        else { return }
        if isProven { try ConversationEncryption(step: step).block(message.conversation) }
        step.emit(
            KeyPublicationFailed(
                contact: message.sender.bare,
                isProven
                    ? "does not want encryption: messages wait until you decide"
                    : "does not want encryption, says a message that anybody on the way can have written: nothing changes"
            ))
    }

    private static func hasOptOut(_ message: Element) -> Bool {
        message.child("opt-out", OMEMOVersion.omemo2.namespace) != nil
    }

    private static func received(_ event: NodeEvent, _ dialect: OMEMOVersion, by sender: JID, in step: Step) throws {
        guard try EnabledVersions(step: step).all.contains(dialect) else { return }
        guard sender == step.account.jid else {
            return try DeviceLists(step: step, dialect: dialect).event(event.change, by: sender)
        }
        let publisher = KeyPublisher(step: step, dialect: dialect)
        switch event.change {
        case .content(let content): try publisher.received(DeviceList(content, dialect) ?? DeviceList([]))
        case .emptied: try publisher.received(DeviceList([]))
        case .retracted(let id): if id == OMEMOVersion.listItem { try publisher.received(DeviceList([])) }
        }
    }

    static func didInsert(_ message: inout Message, from incoming: IncomingMessage, in step: Step) throws {
        if let digest = incoming.digest { try SeenCiphertexts(step: step).set(message.id, of: digest) }
        // Only the account's archive proves that an earlier process has sent messages that are missing here: in a room's archive,
        // others may have written in this device's name.
        guard incoming.source == .archive, incoming.archive == Archive.own.key, !incoming.isOlder,
            incoming.encryption?.problem == .notForUs, let device = incoming.encryption?.device,
            message.direction == .outgoing,
            try device == OwnDevice.id(of: step.account.id, in: step.database)
        else { return }
        try BackupRestoreGuard(step: step).found("the archive has messages of this device that are not here")
    }

    // MARK: Outgoing

    static func intercepts(_ stanza: AcceptedStanza, in step: Step) throws -> Bool {
        try EncryptionQueue(step: step).accept(stanza)
    }

    static func hasPendingOutgoing(for account: Account, in database: Database) throws -> Bool {
        try EncryptionQueue.isAny(of: account, in: database)
    }

    static func enqueuePending(in step: Step) throws { try EncryptionQueue(step: step).processNext() }

    static func defers(_ message: Int64, to room: JID, in step: Step) throws -> Bool {
        guard try EncryptionQueue(step: step).isWaiting(message) else { return false }
        try EncryptionQueue(step: step).schedule(room.description)
        return true
    }

    static func hasOutstandingWork(for account: Account, in database: Database) throws -> Bool {
        try EncryptionQueue.isWaiting(of: account, in: database) || DeferredMessages.isAny(of: account, in: database)
    }

    static func didChangeState(_ message: Message, in step: Step) throws {
        let queue = EncryptionQueue(step: step)
        if message.state == .failed { try queue.forget(message.id) }
        // The archive has shown a text that waits to be encrypted: it has arrived.
        guard message.state == .acked, message.isShown || message.encryption != nil, try queue.isWaiting(message.id)
        else { return }
        try queue.forget(message.id)
        let messages = MessageReader(database: step.database, account: step.account.id)
        // A text whose outcome was unknown waits to be sent again.
        guard try !messages.hasLeft(message.id) else { return }
        try BackupRestoreGuard(step: step).found("the archive has messages that have not left here")
    }
}
