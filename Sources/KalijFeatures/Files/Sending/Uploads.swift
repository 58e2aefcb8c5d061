import KalijAddress
import KalijHandlers
import KalijRatchet
import KalijCore
import KalijStore
import KalijText
import KalijXML

import FoundationEssentials

/// The uploads of an account, in a step.
package struct Uploads {
    package let step: Step
    package init(step: Step) { self.step = step }
    package var rows: UploadRows { UploadRows(database: step.database, account: step.account.id) }

    /// How long a file waits for a server with a service, and how long a failed upload can be retried; in milliseconds.
    static let timeout: Int64 = 7 * 86_400_000

    // MARK: Events

    /// Records the upload of an accepted file.
    func accept(_ file: SendFile, id: String) throws {
        guard try rows.row(for: id) == nil,
            try Message.accepted(id, by: step.account, in: step.database) == nil
        else { return }
        if file.endsDraft ?? false { try OutgoingText.endDraft(for: JID(file.to), in: step) }
        try rows.insert(file, id: id, acceptedAt: step.now)
        if let row = try rows.row(for: id) { emitChange(row) }
        step.filesChanged()
    }

    /// Begins the upload `id`: a transfer slot of this process is free.
    package func begin(_ id: Int64) throws {
        guard let row = try rows.row(id), row.plan.stage == .waiting else { return }
        let services = UploadServices(step: step)
        switch try services.discoveryState() {
        case .pending: return
        case .unknown: return try services.discover()
        case .none:
            let end = step.steady.now &+ max(0, row.acceptedAt &+ Self.timeout &- step.now)
            try handle(.noService(until: end), row)
        case .known(let service):
            if let limit = service.limit, row.putSize > limit {
                return try fail(row, Reason(.fileTooLarge, "\(limit)"))
            }
            try encryptIfNeeded(row)
            try handle(.begin, id)
        }
    }

    package func handle(_ event: UploadPlan.Event, _ id: Int64) throws {
        guard let row = try rows.row(id) else { return }
        try handle(event, row)
    }

    private func handle(_ event: UploadPlan.Event, _ old: UploadRow) throws {
        var row = old
        let action = row.plan.handle(event, now: step.steady.now, random: Self.random(row))
        guard row.plan != old.plan || action != nil else { return }
        try rows.set(row.plan, of: row.id)
        if row.plan.stage != old.plan.stage || row.plan.reason != old.plan.reason { emitChange(row) }
        step.filesChanged()
        switch action {
        case .requestSlot: try requestSlot(row)
        case .put, nil: break
        case .finish: try finish(row)
        case .fail(let reason): try failed(row, reason)
        }
    }

    /// A value that spreads the attempts of many clients: constant for an upload, different between uploads.
    private static func random(_ row: UploadRow) -> Double {
        let begin = UInt64(clamping: row.plan.failures)
        let sum = row.messageID.utf8.reduce(begin) { ($0 &* 31) &+ UInt64(clamping: $1) }
        return Double(sum % 1000) / 1000
    }

    /// A service was discovered: uploads that have waited for one continue.
    func didDiscoverService() throws {
        try step.database.run(
            """
            UPDATE upload SET not_before = 0, failures = 0, reason = NULL
            WHERE account = ? AND state = 'waiting' AND reason LIKE 'no-upload-service%'
            """, [.integer(step.account.id)])
        step.filesChanged()
    }

    /// The discovery has timed out: uploads that are due retry after a minute, with a backoff of up to an hour. After a suspension of
    /// the process longer than the timeout, the query may not even have been sent.
    func serviceSilent() throws {
        try step.database.run(
            """
            UPDATE upload SET failures = failures + 1, reason = ?3, not_before = ?2 + min(3600000, 60000 << min(failures, 6))
            WHERE account = ?1 AND state = 'waiting' AND not_before <= ?2
            """,
            [
                .integer(step.account.id), .integer(step.steady.now),
                .text("no-upload-service: the server does not answer"),
            ])
        step.filesChanged()
    }

    /// The network has changed: uploads that have failed temporarily are retried at once.
    package func networkChanged() throws {
        try step.database.run(
            "UPDATE upload SET not_before = 0, failures = 0 WHERE account = ? AND state = 'waiting' AND failures > 0",
            [.integer(step.account.id)])
        step.filesChanged()
    }

    /// Corrects the rows when a process begins, because no transfer is in progress then.
    package func processBegan() throws {
        // A request of a lost session was invalidated; without a request no response is outstanding.
        let isAsking = try Requests(step: step).isWaiting([UploadSlotResponse.name])
        for row in try rows.active() {
            if row.plan.stage == .putting { try handle(.put(.stopped), row) }
            if row.plan.stage == .asking, !isAsking { try handle(.slotLost, row) }
        }
    }

    // MARK: Actions

    private func requestSlot(_ row: UploadRow) throws {
        guard let service = try UploadServices.last(of: step.account.id, in: step.database) else {
            return try handle(.slotLost, row.id)
        }
        // The name and the type of an encrypted file are not disclosed, except for the extension.
        let isSecret = row.key != nil
        let name = isSecret ? secretName(row) : row.description.name ?? "file"
        let type = isSecret ? "application/octet-stream" : row.description.type ?? "application/octet-stream"
        try step.send(
            .request(.get, UploadSlot.request(name: name, size: row.putSize, type: type), to: service.jid),
            then: UploadSlotResponse(upload: row.id, asked: row.plan.requestedAt), within: EngineLimits.archiveTimeout)
    }

    /// A random name. The extension is kept: other clients recognize pictures by it.
    private func secretName(_ row: UploadRow) -> String {
        let parts = (row.description.name ?? "").words(at: ".")
        let end = parts.count > 1 ? parts.last?.lowercased() ?? "" : ""
        let isUsual = (1...5).contains(end.utf8.count) && end.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return UUID().uuidString.lowercased() + (isUsual ? "." + end : "")
    }

    /// Generates a key if the conversation is encrypted and the upload has none.
    /// - Returns: whether a key was generated.
    @discardableResult
    private func encryptIfNeeded(_ row: UploadRow) throws -> Bool {
        guard row.key == nil else { return false }
        let privacy = try EncryptionState.privacy(
            row.privacy, to: row.recipient, of: step.account, in: step.database)
        guard privacy == .encrypted else { return false }
        try rows.set(key: Secret.random(44).exported, of: row.id)
        return true
    }

    /// Stores the message of a completely uploaded file. The message gets its place in the order of messages only now: texts accepted
    /// after the file were not delayed.
    private func finish(_ row: UploadRow) throws {
        // The conversation has become encrypted in the meantime: the file is uploaded once more, encrypted.
        if try encryptIfNeeded(row) {
            try rows.set(UploadPlan(), of: row.id)
            return
        }
        guard let url = row.plan.slot?.get else {
            return try failed(row, Reason(other: "the address of the file is lost"))
        }
        let shared = SharedFile(FileAddress(url: url, key: row.key), row.description)
        let privacy: EncryptionPreference = row.key == nil ? .plain : .encrypted
        var message = try stanza(of: shared, for: row)
        message.privacy = privacy
        let stored = try message.enqueue(in: step, sentAt: step.now)
        try ReceivedFiles(step: step).insert(shared, of: stored.id, state: .own)
        try ReceivedFiles(step: step).keepOwn("out/\(row.file)", of: stored.id)
        guard let text = row.text, let id = row.textID else { return }
        try OutgoingText(text, to: row.recipient, id: id, privacy: privacy).enqueue(in: step, sentAt: step.now)
    }

    private func stanza(of shared: SharedFile, for row: UploadRow) throws -> OutgoingStanza {
        let text = shared.address.encryptedText
        return OutgoingStanza(
            text: text ?? shared.address.url, to: row.recipient, id: row.messageID,
            content: text.map { [Element("body", text: $0)] } ?? shared.content)
    }

    package func fail(_ row: UploadRow, _ reason: Reason) throws {
        var row = row
        (row.plan.stage, row.plan.reason, row.plan.slot) = (.failed, reason.description, nil)
        try rows.set(row.plan, of: row.id)
        emitChange(row)
        step.filesChanged()
        try failed(row, reason)
    }

    /// Stores a failed message for the failed upload, so that every program sees the failure. The file is kept for a week.
    private func failed(_ row: UploadRow, _ reason: Reason) throws {
        var plan = row.plan
        plan.notBefore = step.steady.now &+ Self.timeout
        try rows.set(plan, of: row.id)
        let name = row.description.name ?? "file"
        let stanza = OutgoingStanza(
            text: name, to: row.recipient, id: row.messageID, content: [Element("body", text: name)])
        try stanza.enqueue(in: step, sentAt: step.now, failure: reason)
        try Intents(step: step).end(row.messageID, .failed(reason.description))
    }

    // MARK: Actions of the user

    /// - Throws: `IntentFailure`
    func cancel(_ id: String) throws {
        guard let row = try rows.row(for: id), row.plan.stage != .done else {
            throw IntentFailure("there is no upload \(id), or its message is queued already")
        }
        try remove(row)
        emitChange(row, cancelled: true)
        if row.plan.stage != .failed { try Intents(step: step).end(id, .failed("cancelled")) }
    }

    /// - Throws: `IntentFailure`
    func retry(_ id: String) throws {
        guard let row = try rows.row(for: id) else { throw IntentFailure("there is no upload \(id)") }
        switch row.plan.stage {
        case .failed:
            if let message = try Message.accepted(id, by: step.account, in: step.database), message.state == .failed {
                try MessageWriter(step: step).withdraw(message.id)
            }
            try handle(.retry, row)
        case .waiting: try handle(.retry, row)
        // It has retried by itself since the user chose to.
        case .asking, .putting, .sealed, .done: break
        }
    }

    /// - Throws: `IntentFailure`
    func pause(_ id: String) throws {
        guard let row = try rows.row(for: id) else { throw IntentFailure("there is no upload \(id)") }
        switch row.plan.stage {
        case .waiting, .asking, .putting: try handle(.pause, row)
        case .sealed, .done: throw IntentFailure("the server may have the file already")
        case .failed: throw IntentFailure("the upload has failed")
        }
    }

    /// Ends an upload whose message has reached a final state.
    func stateChanged(_ message: Message) throws {
        let outcome = message.outcome(of: "message")
        guard outcome != .pending, let id = message.originID else { return }
        guard let row = try rows.row(for: id), row.plan.stage == .done else { return }
        try remove(row)
        try Intents(step: step).end(id, outcome)
    }

    /// Removes failed uploads that were not retried for a week.
    package func forgetFailed() throws {
        for row in try rows.forgettable(at: step.steady.now) { try remove(row) }
    }

    private func remove(_ row: UploadRow) throws {
        try rows.remove(row.id)
        // The message keeps its file until `OwnFiles` has given it a name.
        let file = "out/\(row.file)"
        guard try !ReceivedFiles(step: step).rows.isKnown(file) else { return step.filesChanged() }
        try FileDeletionQueue.add(file, in: step)
    }

    private func emitChange(_ row: UploadRow, cancelled: Bool = false) {
        step.emit(UploadChanged(row, state: cancelled ? "cancelled" : row.plan.stage.rawValue))
    }
}

/// The response to the request for a slot.
struct UploadSlotResponse: InvalidatableHandler {
    static let name = "files.slot"
    let upload: Int64
    /// When the slot was requested: a late response to an earlier request is ignored.
    let asked: Int64

    func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result(let iq):
            guard let slot = UploadSlot(iq) else {
                return try handle(.slotRefused(.forNow("the upload service has sent no usable slot")), in: step)
            }
            try UploadServices(step: step).record(host: UploadServices.host(of: slot.get))
            try handle(.slot(slot), in: step)
        case .error(let error, let iq):
            let isGone = [.itemNotFound, .serviceUnavailable, .featureNotImplemented, .remoteServerNotFound]
                .contains(error.condition)
            if isGone { try UploadServices(step: step).forget() }
            let refusal = SlotRefusal(
                error, iq, steadyAhead: step.steady.now &- step.now, now: step.steady.now)
            try handle(.slotRefused(refusal), in: step)
        case .timeout where step.isForUnsent: try handle(.slotLost, in: step)
        case .timeout: try handle(.slotRefused(.forNow("the upload service does not answer")), in: step)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws { try handle(.slotLost, in: step) }

    private func handle(_ event: UploadPlan.Event, in step: Step) throws {
        let uploads = Uploads(step: step)
        guard let row = try uploads.rows.row(upload), row.plan.requestedAt == asked else { return }
        try uploads.handle(event, upload)
    }
}
