import KalijAddress
import KalijCore
import KalijStore

/// The files of messages, in a step.
package struct ReceivedFiles {
    package let step: Step
    package init(step: Step) { self.step = step }
    package var rows: ReceivedFileRows { ReceivedFileRows(database: step.database) }

    /// The maximum size of an automatic download, in bytes.
    package static let maxAutomaticSize: Int64 = 1 << 20
    /// Automatic downloads stop once the stored files have this many bytes.
    private static let maxAutomaticTotal: Int64 = 1 << 30
    /// The maximum number of attempts before the user has to request the file again.
    private static let maxFailures: Int64 = 10

    func insert(_ file: SharedFile, of message: Int64, state: MessageFile.State, automatic: Bool = false) throws {
        try rows.insert(file, of: message, step.account.id, state: state, automatic: automatic)
        if state == .wanted { step.filesChanged() }
    }

    /// Records the file of a message that was received and stored.
    /// - Returns: the file of the message.
    func arrived(_ message: Message, _ incoming: IncomingMessage) throws -> MessageFile? {
        guard incoming.isShown, incoming.encryption?.problem == nil, let file = incoming.file else { return nil }
        guard file.address.isKnown else {
            try insert(file, of: message.id, state: .failed)
            return try rows.row(of: message.id)?.file
        }
        let isWanted = try isFetched(file, message, incoming)
        let state: MessageFile.State = isWanted ? .wanted : .offered
        try insert(file, of: message.id, state: state, automatic: isWanted)
        return try rows.row(of: message.id)?.file
    }

    /// Records the file of a message that was decrypted after it was stored: it is fetched if the user requests it.
    func offer(_ file: SharedFile, of message: Int64) throws {
        try insert(file, of: message, state: file.address.isKnown ? .offered : .failed)
    }

    /// Whether a file is fetched automatically: only from contacts to whom the user has written. A fetch discloses to whoever chose
    /// the address when and from where the user reads.
    private func isFetched(_ file: SharedFile, _ message: Message, _ incoming: IncomingMessage) throws -> Bool {
        guard message.direction == .incoming, message.type != "groupchat", try !step.isHistory(incoming),
            file.description.size.map({ $0 <= Self.maxAutomaticSize }) ?? (file.address.key != nil),
            try step.settings(for: message.conversation).downloads,
            // Bounds the disk space that senders can fill.
            try rows.stored(of: step.account.id).bytes < Self.maxAutomaticTotal
        else { return false }
        return try MessageReader(database: step.database, account: step.account.id)
            .hasWritten(to: message.conversation)
    }

    // MARK: Fetching

    /// Handles the user's request for the file of `message`.
    /// - Throws: `IntentFailure`
    func requestDownload(_ message: Int64, for intent: String) throws -> IntentOutcome {
        guard var row = try rows.row(of: message) else { throw IntentFailure("the message shares no file") }
        guard row.isFetchable else { throw IntentFailure(ReceivedFileRow.withoutAddress) }
        switch row.state {
        case .own: throw IntentFailure("the file is your own")
        case .stored: return .done
        case .offered, .wanted, .failed:
            if let earlier = row.intent { try Intents(step: step).end(earlier, .failed("asked for again")) }
            (row.state, row.problem, row.notBefore, row.failures) = (.wanted, nil, 0, 0)
            (row.isAutomatic, row.intent) = (false, intent)
            try set(row)
            return .pending
        }
    }

    /// Records the validator of the first response: a partial file is of this version.
    package func began(_ message: Int64, validator: String?) throws {
        guard var row = try rows.row(of: message), row.validator != validator else { return }
        row.validator = validator
        try rows.set(row)
    }

    /// Records that the file was received completely and verified.
    /// - Parameter name: the path below `files`.
    package func stored(_ message: Int64, at name: String) throws {
        guard var row = try rows.row(of: message) else { return try FileDeletionQueue.add(name, in: step) }
        (row.state, row.name, row.problem, row.validator) = (.stored, name, nil, nil)
        try set(row, .done)
    }

    /// Records a permanent failure.
    package func failed(_ message: Int64, _ reason: String) throws {
        guard var row = try rows.row(of: message), row.state == .wanted else { return }
        (row.state, row.problem, row.validator) = (row.isAutomatic ? .offered : .failed, reason, nil)
        try set(row, .failed(reason))
    }

    /// Records a temporary failure, and schedules the next attempt.
    package func later(_ message: Int64, _ reason: String) throws {
        guard var row = try rows.row(of: message), row.state == .wanted else { return }
        row.failures += 1
        guard row.failures < (row.isAutomatic ? 3 : Self.maxFailures) else { return try failed(message, reason) }
        row.problem = reason
        row.notBefore = step.steady.now &+ min(3_600_000, 1000 << min(row.failures - 1, 12))
        try set(row)
    }

    /// The network has changed: failed downloads are retried at once.
    package func networkChanged() throws {
        try step.database.run(
            "UPDATE attachment SET not_before = 0 WHERE account = ? AND state = 'wanted' AND not_before > 0",
            [.integer(step.account.id)])
        step.filesChanged()
    }

    private func set(_ row: ReceivedFileRow, _ outcome: IntentOutcome = .pending) throws {
        var row = row
        let intent = row.intent
        if outcome != .pending { row.intent = nil }
        try rows.set(row)
        step.emit(DownloadChanged(row.message, row.file))
        step.filesChanged()
        if let intent { try Intents(step: step).end(intent, outcome) }
    }

    /// Cancels a download, automatic ones included. The sender's offer remains.
    /// - Throws: `IntentFailure`
    func cancelDownload(_ message: Int64) throws {
        guard var row = try rows.row(of: message), row.state == .wanted else {
            throw IntentFailure("no download of the message is in progress")
        }
        (row.state, row.problem) = (.offered, nil)
        try set(row, .failed("cancelled"))
    }

    /// The number of files that are discarded in a step.
    private static let clearedAtOnce = 200

    /// Discards the stored files of messages before `message`. The senders' offers remain. Each step discards some, and messages are
    /// received in between; what was fetched since stays.
    func clear(before message: Int64? = nil, for intent: String) throws -> IntentOutcome {
        let messages = try rows.messages(storedBy: step.account.id, before: message, limit: Self.clearedAtOnce)
        for message in messages {
            guard var row = try rows.row(of: message), let name = row.name else { continue }
            (row.state, row.name, row.problem) = (.offered, nil, nil)
            try set(row)
            try FileDeletionQueue.add(name, in: step)
        }
        guard let last = messages.last, messages.count == Self.clearedAtOnce else { return .done }
        try step.schedule(ClearDownloadsContinuation(intent: intent, message: last), after: .zero)
        return .pending
    }

    // MARK: Own files

    /// Keeps the own file `name` below `files` for its message.
    func keepOwn(_ name: String, of message: Int64) throws {
        guard var row = try rows.row(of: message), row.state == .own else { return }
        row.name = name
        try rows.set(row)
        step.filesChanged()
    }

    /// The own file was linked under the name `linked`; nil if it is lost.
    func linked(_ file: ReceivedFileRows.OwnFile, as linked: String?) throws {
        guard var row = try rows.row(of: file.message), row.name == file.name else {
            if let linked { try FileDeletionQueue.add(linked, in: step) }
            return
        }
        row.name = linked
        try rows.set(row)
        step.emit(DownloadChanged(row.message, row.file))
        // An upload in progress reads the file under its first name, and removes it at its end.
        guard try !FileDeletionQueue.isUploaded(file.name, in: step.database) else { return }
        try FileDeletionQueue.add(file.name, in: step)
    }

    // MARK: Ends

    /// The text of a message was removed (retracted, moderated, forgotten) or replaced, or an encrypted message was decrypted later.
    func textChanged(of message: Int64, from old: String?, to text: String?) throws {
        // A correction of the text beside a file keeps the file; a correction of the address removes it.
        if text == nil || old.map(FileAddress.isAddress) ?? false { try erased(message) }
        guard let text, let address = FileAddress(encrypted: text) else { return }
        try insert(SharedFile(address, FileDescription()), of: message, state: .offered)
    }

    private func erased(_ message: Int64) throws {
        guard let row = try rows.row(of: message) else { return }
        try rows.remove(message)
        // A file that is still uploaded is removed with its upload.
        if let name = row.name, try !FileDeletionQueue.isUploaded(name, in: step.database) {
            try FileDeletionQueue.add(name, in: step)
        }
        if let intent = row.intent { try Intents(step: step).end(intent, .failed("the message is gone")) }
        step.filesChanged()
    }

    /// The account is logged out: stored files are discarded, and can be fetched from the server again while it keeps them.
    func loggedOut() throws {
        let values: [Value] = [.integer(step.account.id), .state(MessageFile.State.offered)]
        try step.database.run(
            "UPDATE attachment SET state = ?2, intent = NULL, validator = NULL WHERE account = ?1 AND state = 'wanted'",
            values)
        try step.database.run(
            "UPDATE attachment SET state = ?2, path = NULL WHERE account = ?1 AND state = 'stored'", values)
        try step.database.run(
            "UPDATE attachment SET path = NULL WHERE account = ?1 AND state = 'own' AND path IS NOT NULL",
            [.integer(step.account.id)])
        step.filesChanged()
    }
}

extension Message {
    /// The message with its file.
    package func withFile(in database: Database) throws -> Message {
        guard let row = try ReceivedFileRows(database: database).row(of: id) else { return self }
        return with(row.file)
    }
}
