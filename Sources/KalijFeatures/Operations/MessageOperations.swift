import KalijCore
import KalijStore
import KalijText

/// The operations of a step. The displayed state of a message is computed from the stored operations on it, and stored with it; so the
/// result does not depend on the order of the operations.
struct MessageOperations {
    let step: Step
    /// A new message for which no event was emitted yet.
    var unannounced: Int64?
    private var rows: OperationRows { OperationRows(database: step.database) }
    private var messages: MessageReader { MessageReader(database: step.database, account: step.account.id) }

    /// The maximum number of operations of an author that wait for messages of a conversation. The oldest are dropped.
    private static let maxWaiting = 100
    /// The maximum number of stored operations of an author and a kind on a message. The oldest are dropped, because the latest
    /// prevails.
    private static let maxPerMessage = 100

    // MARK: Events

    /// Stores the operation in `message`, received or accepted from the user.
    func insert(_ operation: MessageOperation, of message: Message) throws {
        try rows.insert(operation, of: message, in: step.account, author: author(of: message))
        if let row = try rows.row(message.id) { try place(row) }
    }

    private func author(of message: Message) throws -> String {
        if message.direction == .outgoing { return step.account.jid.description }
        return message.isInRoom ? try messages.author(of: message.id) ?? OperationRow.nobody : message.conversation
    }

    /// Handles a stored message that may be an operation.
    func stored(_ message: Message, from incoming: IncomingMessage) throws {
        guard let row = try rows.row(message.id) else { return }
        if let target = row.target {
            // Another device can only retract a message that had arrived, in whatever session.
            if row.operation.kind == .retraction { try RetractedMessage(step: step, row: target).settle(by: message) }
            return try dropSurplus(like: row)
        }
        let isRetracted = try eraseIfRetracted(row)
        if row.operation.kind == .correction, !isRetracted { try show(row, from: incoming) }
        try dropWaiting(by: row.author, in: row.conversation)
    }

    /// Handles a stored message with the ids `ids`, for which operations may have waited.
    /// - Returns: whether there are such operations.
    @discardableResult
    func found(_ ids: [String?], in conversation: String) throws -> Bool {
        guard try !rows.isKnownEmpty else { return false }
        var isAny = false
        var looked: ExactText?
        for case let id? in ids where !id.isEmpty && id.exact != looked {
            looked = id.exact
            for row in try rows.rows(naming: id, in: conversation, of: step.account) {
                isAny = true
                try place(row)
            }
        }
        return isAny
    }

    /// Handles a message that was moved: the target of an operation may have changed, and the latest operation on a message.
    func moved(_ row: Int64) throws {
        if let operation = try rows.row(row) { try place(operation) }
        guard let (ids, conversation) = try messages.names(of: row) else { return }
        try found(ids, in: conversation)
    }

    /// Handles a change of the state of one of the user's operations.
    func stateChanged(_ message: Message) throws {
        guard let row = try rows.row(message.id) else { return }
        guard let target = row.target else {
            // A retraction may be rejected until it is acknowledged; the text would then be lost.
            if row.operation.kind == .retraction, message.state?.isWithServer ?? false { _ = try eraseIfRetracted(row) }
            return
        }
        try changing([target]) {}
        // A message of unknown outcome may have been retracted in another session than it was sent in.
        guard row.operation.kind == .retraction, try Message.load(target, from: step.database)?.isSettled ?? false
        else { return }
        try RetractedMessage(step: step, row: target).settle(by: message)
    }

    // MARK: Targets

    /// Determines the target of an operation, and updates what is displayed.
    private func place(_ row: OperationRow) throws {
        let target = try meant(by: row)
        try changing(Set([row.target, target].compactMap { $0 })) {
            guard target != row.target else { return }
            try rows.set(target: target, of: row.message)
            if row.operation.kind == .correction { try setShown(row, target == nil) }
        }
        // Corrections may refer to this correction instead of the original.
        guard target != row.target, row.operation.kind == .correction,
            let (ids, conversation) = try messages.names(of: row.message)
        else { return }
        try found(ids, in: conversation)
    }

    /// The row of the target of an operation. Only the author of a message can correct and retract it; an operation without a proven
    /// author has no target. The target of an operation on a correction is the original (XEP-0308 section 4, XEP-0444 section 4.2).
    private func meant(by row: OperationRow) throws -> Int64? {
        guard let named = try named(by: row) else { return nil }
        var target: Int64? = named.row
        if let operation = try rows.row(named.row) {
            target = operation.operation.kind == .correction ? operation.target : nil
        }
        guard let target else { return nil }
        // A correction that may not change the message is displayed as a message of its own.
        guard row.operation.kind == .correction, try !messages.isAccepted(row.message) else { return target }
        let (old, new) = try (encryption(of: target), encryption(of: row.message))
        return MessageEncryption.mayChange(old, by: new) ? target : nil
    }

    private func encryption(of row: Int64) throws -> MessageEncryption? { try messages.message(row)?.encryption }

    private func named(by row: OperationRow) throws -> MessageReader.Named? {
        guard row.author != OperationRow.nobody else { return nil }
        return try messages.named(
            row.operation.reference, in: row.conversation, by: writer(meantBy: row), from: row.message)
    }

    private func writer(meantBy row: OperationRow) throws -> MessageReader.Writer {
        if row.operation.kind == .reaction { return .anybody }
        if row.author.exact == step.account.jid.description.exact { return .user }
        return try messages.author(of: row.message).map { .occupant($0) } ?? .others
    }

    // MARK: Displayed state

    /// Runs `body`, which changes operations on the messages in `targets`, and emits an event for each message whose displayed state
    /// has changed.
    private func changing(_ targets: Set<Int64>, _ body: () throws -> Void) throws {
        let before = try targets.sorted().map { ($0, try view($0)) }
        try body()
        for (target, old) in before {
            try apply(to: target)
            guard let new = try view(target), new != old, target != unannounced else { continue }
            try EventPublisher(step: step).publish(MessageChanged(new))
        }
    }

    /// The message in `row` with its reactions, as displayed.
    private func view(_ row: Int64) throws -> Message? {
        try Message.load(row, from: step.database)?.withReactions(in: step.database)
            .withDisplayed(by: step.account.id, in: step.database)
    }

    /// Computes the text of the message in `target`.
    private func apply(to target: Int64) throws {
        guard let message = try Message.load(target, from: step.database), message.erasure != .forgotten,
            message.erasure != .moderated
        else { return }
        let counted = try rows.counted(on: target).filter { $0.mayChange(message) }
        let original = try rows.original(of: target) ?? message.body
        let messages = MessageWriter(step: step)
        if let retraction = counted.last(where: { $0.row.operation.kind == .retraction }) {
            if let original { try rows.keep(original: original, of: target) }
            try messages.rewrite(target, body: nil, editedAt: nil, erasure: .retracted)
            // A retraction of the user's may still be rejected. While the archive is being read, an ambiguous id may temporarily refer
            // to another message.
            if try retraction.isFinal && named(by: retraction.row)?.isOnly ?? false { try erase(target) }
        } else if let correction = counted.last(where: { $0.row.operation.kind == .correction }) {
            if let original { try rows.keep(original: original, of: target) }
            try messages.rewrite(
                target, body: correction.row.operation.content, editedAt: correction.sentAt, erasure: nil)
        } else if let original = try rows.original(of: target) {
            try messages.rewrite(target, body: original, editedAt: nil, erasure: nil)
            try rows.forgetOriginal(of: target)
        }
    }

    /// Deletes all versions of the text from the database.
    private func erase(_ target: Int64) throws {
        try rows.forgetOriginal(of: target)
        try rows.eraseTexts(on: target)
    }

    /// Removes the message in `row` from this directory, by the user's command.
    func forget(_ row: Int64) throws { try end(row, .forgotten) }

    /// Handles the retraction of the message in `row` by its room.
    func moderated(_ row: Int64) throws {
        guard let message = try Message.load(row, from: step.database), message.erasure != .forgotten,
            message.erasure != .moderated
        else { return }
        try end(row, .moderated)
    }

    private func end(_ row: Int64, _ erasure: Erasure) throws {
        try MessageWriter(step: step).rewrite(row, body: nil, editedAt: nil, erasure: erasure)
        try erase(row)
        if let message = try view(row) { try EventPublisher(step: step).publish(MessageChanged(message)) }
    }

    // MARK: Corrections without a target

    /// Displays a correction without a target as a message of its own.
    private func show(_ row: OperationRow, from incoming: IncomingMessage) throws {
        guard !(row.operation.content ?? "").isEmpty else { return }
        try MessageWriter(step: step).show(row.message, body: row.operation.content, corrects: row.operation.reference)
        guard let message = try Message.load(row.message, from: step.database) else { return }
        try MessageWriter(step: step).publishShown(message, from: incoming)
    }

    /// Erases corrections of a message that is not stored and that its author has retracted: a server may have erased the message
    /// itself (XEP-0424; measured: ejabberd 24.12).
    /// - Returns: whether `row`, without a target, is such a correction.
    private func eraseIfRetracted(_ row: OperationRow) throws -> Bool {
        guard row.operation.kind != .reaction, row.author != OperationRow.nobody else { return false }
        let alike = try WaitingOperations(database: step.database, account: step.account).alike(row)
        let retractions = try alike.filter { $0.operation.kind == .retraction }.map { try encryption(of: $0.message) }
        var isErased = false
        for correction in alike where correction.operation.kind == .correction {
            let text = try encryption(of: correction.message)
            guard retractions.contains(where: { MessageEncryption.mayChange(text, by: $0) }) else { continue }
            try setShown(correction, false)
            try rows.eraseText(of: correction.message)
            isErased = isErased || correction.message == row.message
        }
        return isErased
    }

    /// Begins or ends the display of a correction as a message of its own.
    private func setShown(_ row: OperationRow, _ isShown: Bool) throws {
        let isShown = isShown && !(row.operation.content ?? "").isEmpty
        guard let before = try Message.load(row.message, from: step.database), before.isShown || isShown,
            // A new correction is displayed at the end of its step, if it has no target by then.
            row.target != nil || !isShown
        else { return }
        try MessageWriter(step: step).show(
            row.message, body: isShown ? row.operation.content : nil,
            corrects: isShown ? row.operation.reference : nil)
        guard let message = try Message.load(row.message, from: step.database), message != before else { return }
        try EventPublisher(step: step).publish(MessageChanged(message))
    }

    // MARK: Limits

    private func dropWaiting(by author: String, in conversation: String) throws {
        let waiting = try rows.waiting(by: author, in: conversation, of: step.account)
        // Operations that an intermediary could have forged do not displace those proven to be the author's.
        for isProven in [true, false] {
            let some = waiting.filter { ($0.encryption?.isProven ?? false) == isProven }
            for old in some.dropFirst(Self.maxWaiting) { try drop(old.message) }
        }
    }

    /// Drops the oldest operations of the same author and kind on the same message.
    private func dropSurplus(like row: OperationRow) throws {
        guard let target = try rows.row(row.message)?.target else { return }
        let counted = try rows.counted(on: target)
        let isProven = counted.first { $0.row.message == row.message }?.isProven
        let alike = counted.filter {
            $0.row.author.exact == row.author.exact && $0.row.operation.kind == row.operation.kind
                && $0.isProven == isProven
        }
        for old in alike.dropLast(Self.maxPerMessage) { try drop(old.row.message) }
    }

    /// Drops an operation. The message of a displayed correction is kept.
    private func drop(_ message: Int64) throws {
        try rows.remove(message)
        try MessageWriter(step: step).removeHidden(message)
    }
}

/// An effective operation, with properties of its message.
struct EffectiveOperation {
    let row: OperationRow
    let position: Int64
    /// Milliseconds since 1970.
    let sentAt: Int64
    /// Whether the operation can no longer be rejected.
    let isFinal: Bool
    /// The address of the sender.
    let sender: String
    /// Whether the operation was made on this device.
    let isAccepted: Bool
    let encryption: MessageEncryption?

    /// Whether no intermediary can have forged the operation.
    var isProven: Bool { isAccepted || encryption?.isProven ?? false }

    /// Whether the operation may change `message`.
    func mayChange(_ message: Message) -> Bool {
        isAccepted || MessageEncryption.mayChange(message.encryption, by: encryption)
    }

    var shownAuthor: String { RoomAuthor.shown(row.author, sender: sender) }
}

extension OperationRows {
    /// The operations on the message in row `target` that were not rejected, in their order.
    func counted(on target: Int64) throws -> [EffectiveOperation] {
        try database.statement(
            """
            SELECT o.message, o.kind, o.author, o.conversation, o.reference, o.content, o.target,
                m.position, m.sent_at, m.state, m.type, m.sender, m.encryption,
                m.direction = 'out' AND m.received_at IS NULL AS accepted
            FROM operation o CROSS JOIN message m ON m.id = o.message
            WHERE o.target = ? AND m.state IS NOT ? ORDER BY m.position, m.id
            """
        ).all([.integer(target), .state(MessageState.failed)]) { row in
            let state = row.optionalText("state").flatMap(MessageState.init)
            return EffectiveOperation(
                row: OperationRow(row), position: row.integer("position"), sentAt: row.integer("sent_at"),
                isFinal: state?.hasArrived(row.text("type")) ?? true, sender: row.text("sender"),
                isAccepted: row.bool("accepted"),
                encryption: row.optionalText("encryption").map(MessageEncryption.init(stored:)))
        }
    }
}

extension Message {
    /// The message with its reactions: the latest of each author, in the order of the authors' addresses. Unencrypted reactions to an
    /// encrypted message are marked as such, and omitted if the author has also reacted encrypted.
    package func withReactions(in database: Database) throws -> Message {
        let all = try OperationRows(database: database).counted(on: id)
        guard !all.isEmpty else { return self }
        var message = self
        message.isRetractedInPlain =
            erasure == nil && all.contains { $0.row.operation.kind == .retraction && !$0.mayChange(self) }
        let reactions = all.filter { $0.row.operation.kind == .reaction }
        let (sealed, plain) = (reactions.filter { $0.mayChange(self) }, reactions.filter { !$0.mayChange(self) })
        let proven = Set(sealed.map(\.row.author.exact))
        message.reactions =
            Self.last(sealed, isPlain: false)
            + Self.last(plain.filter { !proven.contains($0.row.author.exact) }, isPlain: true)
        return message
    }

    private static func last(_ reactions: [EffectiveOperation], isPlain: Bool) -> [Reaction] {
        let last = Dictionary(reactions.map { ($0.row.author.exact, $0) }) { $1 }
        let ordered = last.values.sorted { ($0.position, $0.row.message) < ($1.position, $1.row.message) }
        // Two occupants may have had the same nickname at different times.
        var emoji: [ExactText: [String]] = [:]
        for counted in ordered {
            emoji[counted.shownAuthor.exact, default: []] += MessageOperation.emoji(in: counted.row.operation.content)
        }
        return emoji.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { author, emoji in
            Reaction(author: author.text, emoji: Emoji.list(emoji), isPlain: isPlain)
        }
    }
}
