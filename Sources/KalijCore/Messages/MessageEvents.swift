import KalijText

extension EventKey {
    /// `in` from somebody else, `out` from the account, on whatever client.
    public static let direction = EventKey(
        "direction", "`in` from somebody else, `out` from the account, on whatever client")
    /// The message's row, unique in the directory; negative while the message waits in the mailbox.
    public static let id = EventKey(
        "id", "the message's row, unique in the directory; negative while the message waits in the mailbox")
    /// The archive's id of the message (XEP-0359).
    public static let stanzaID = EventKey("stanza_id", "the archive's id of the message (XEP-0359)")
    /// The sender's id of the message (XEP-0359).
    public static let originID = EventKey("origin_id", "the sender's id of the message (XEP-0359)")
    /// The address of the stanza's sender.
    public static let from = EventKey("from", "the address of the stanza's sender")
    /// The address of the message's recipient.
    public static let to = EventKey("to", "the address of the message's recipient")
    /// The message's type (RFC 6121 5.2.2).
    public static let type = EventKey("type", "the message's type (RFC 6121 5.2.2)")
    /// The text of the message.
    public static let body = EventKey("body", "the text of the message")
    /// When the message was sent; the server's stamp, if there is one.
    public static let sentAt = EventKey("sent_at", "when the message was sent; the server's stamp, if there is one")
    /// The bare address of the other side.
    public static let conversation = EventKey("conversation", "the bare address of the other side")
    /// The bare address of the author; in a room, only if the room has shown the address.
    public static let author = EventKey(
        "author", "the bare address of the author; in a room, only if the room has shown it")
    /// Of an outgoing message: `queued`, `sent`, `acked`, `delivered`, `displayed` or `failed`.
    public static let state = EventKey(
        "state", "of an outgoing message: `queued`, `sent`, `acked`, `delivered`, `displayed` or `failed`")
    /// What a queued message waits for.
    public static let waitsFor = EventKey(
        "waits_for",
        "in `kalij history`, `search` and `chats`, what a queued message waits for: `driver`, a process that imports the mailbox; "
            + "`connection`; `archive`, which is read first; `keys` of the recipients or of this device; `decision` of the user, because "
            + "the other side does not want encryption any more; `room`, which is not entered; `members`, the lists of the group's members; "
            + "`earlier`, a message to the room whose outcome is unknown; or `nothing`, it is about to be sent")
    /// The members of the group who have read the message.
    public static let readBy = EventKey(
        "read_by",
        "in `kalij history` and `search`, of an own message in a group: the bare addresses of the members who say that they have read it "
            + "(XEP-0333)")
    /// Details of what a queued message waits for.
    public static let waitDetails = EventKey("wait_reason", "of `waits_for`: why, in words, if that is known")
    /// When the text was corrected last.
    public static let edited = EventKey("edited", "when the text was corrected last (XEP-0308)")
    /// Why the text was removed.
    public static let erased = EventKey(
        "erased", "why the text is gone: `moderated` by a room, or `forgotten` by the user")
    /// True if the author has retracted the message.
    public static let retracted = EventKey("retracted", "true if the author has retracted the message (XEP-0424)")
    /// The id of the unknown message that is corrected.
    public static let corrects = EventKey(
        "corrects", "the id of the corrected message, if that message is not known here (XEP-0308)")
    /// The id of the answered message.
    public static let replyTo = EventKey("reply_to", "the id of the answered message (XEP-0461)")
    /// The answered message.
    public static let answers = EventKey(
        "answers",
        "in `kalij history` and `search`, the answered message, if it is here: its `id`, `direction`, `author`, `from`, the beginning of its "
            + "`text` (`cut` if the text goes on), `retracted` or `erased`, and the name of its `file`")
    /// The reactions.
    public static let reactions = EventKey(
        "reactions", "the emoji of each author, as {author: [emoji, ...]} (XEP-0444)")
    /// The reactions to an encrypted message that arrived unencrypted.
    public static let plainReactions = EventKey(
        "plain_reactions",
        "the emoji that have come in plain, though the message is encrypted: anybody on the way can have written them")
    /// A retraction of an encrypted message that arrived unencrypted.
    public static let plainRetraction = EventKey(
        "plain_retraction",
        "true if a retraction has come in plain, though the message is encrypted: anybody on the way can have written it, so the "
            + "text stays")
    /// How the message was encrypted.
    public static let encryption = EventKey(
        "encryption",
        "how the message was encrypted: `ns`, `device`, `fingerprint` and `trust` of the sender; `undecryptable` with the reason "
            + "if the text cannot be read; `left_out`, who cannot read the user's message, and `trust` of all who can; "
            + "`plain` for a plain text in an encrypted conversation")
    /// False if the message is no line of the conversation.
    public static let shown = EventKey(
        "shown",
        "false if the message is no line of the conversation any more: forgotten, or a correction whose original came")
    /// Why the message has failed.
    public static let error = EventKey("error", "why the message has failed, in words")
    /// The code of the error.
    public static let errorCode = EventKey(
        "error_code",
        "why the message has failed, as a code; without it the words are all that is known"
    )
    /// False if it is unknown whether the message arrived.
    public static let settled = EventKey("settled", "false if nobody knows whether the message arrived")
}

/// The common part of events about messages.
public protocol MessageEvent: EventContent {
    /// The message at the time of the event.
    var message: Message { get }
    /// The stored kind of the event.
    var kind: String { get }
}

extension MessageEvent {
    public static var keys: [EventKey] { Message.keys }
    public var fields: [EventField] { message.fields }
    public var line: PrintedText? { message.line }
    public var sentAt: Int64? { message.sentAt }
    public var kind: String { Self.name }
    public var changed: DirectoryChange.Part? { .init(.conversation, message.conversation) }
}

/// A message was stored.
public struct MessageStored: MessageEvent {
    public static let name = "message"
    public static let meaning = "A message was stored, from any source."
    public let message: Message
    /// A message without a text or a file has no line, unless the text cannot be read.
    public var line: PrintedText? {
        let isUnread = message.encryption?.problem.map { $0 != .unknownMethod } ?? false
        return message.body == nil && message.file == nil && !isUnread ? nil : message.line
    }
    public var isResult: Bool { true }

    package init(_ message: Message) { self.message = message }
}

/// The state of an outgoing message changed.
public struct MessageStateChanged: MessageEvent {
    public static let name = "state"
    public static let meaning = "The state of an outgoing message changed."
    public let message: Message
    public var isDetail: Bool { message.state != .failed }
    /// The new state of the message.
    public var kind: String { (message.state ?? .queued).rawValue }

    package init(_ message: Message) { self.message = message }
}

/// An outgoing message was sent in a lost session; it is unknown whether the message arrived.
public struct MessageUnsettled: MessageEvent {
    public static let name = "unsettled"
    public static let meaning =
        "An outgoing message was sent in a lost session; nobody knows whether the message arrived."
    public let message: Message

    package init(_ message: Message) { self.message = message }
}

extension Message {
    static let keys: [EventKey] = [
        .direction, .id, .conversation, .author, .stanzaID, .originID, .from, .to, .type, .body, .sentAt, .state,
        .waitsFor, .waitDetails, .readBy, .error, .errorCode, .settled, .edited, .retracted, .erased, .corrects,
        .replyTo, .answers, .reactions, .plainReactions, .plainRetraction, .encryption, .file, .shown,
    ]

    /// The fields for JSON, in events and in the history.
    public var fields: [EventField] {
        .present(
            EventField(.direction, .text(direction.rawValue)), EventField(.id, .integer(id)),
            EventField(.conversation, .text(conversation)), .optional(.author, author),
            .optional(.stanzaID, stanzaID),
            .optional(.originID, originID), EventField(.from, .text(from)), EventField(.to, .text(to)),
            EventField(.type, .text(type)),
            .optional(.body, body), EventField(.sentAt, .time(sentAt)), .optional(.state, state?.rawValue),
            .optional(.waitsFor, waitsFor?.word), .optional(.waitDetails, waitsFor?.details),
            reading.map { EventField(.readBy, .texts($0.readers.map(\.description))) },
            .optional(.error, error?.description), .optional(.errorCode, error?.name),
            isSettled ? nil : EventField(.settled, .flag(false)),
            editedAt.map { EventField(.edited, .time($0)) },
            erasure == .retracted ? EventField(.retracted, .flag(true)) : .optional(.erased, erasure?.rawValue),
            .optional(.corrects, corrects), .optional(.replyTo, repliesTo),
            answered.map { EventField(.answers, .object($0.fields)) },
            reactionField(.reactions, isPlain: false), reactionField(.plainReactions, isPlain: true),
            isRetractedInPlain ? EventField(.plainRetraction, .flag(true)) : nil,
            encryption.map { EventField(.encryption, .object($0.fields)) },
            file.map { EventField(.file, .object($0.fields)) },
            isShown ? nil : EventField(.shown, .flag(false)))
    }

    private func reactionField(_ key: EventKey, isPlain: Bool) -> EventField? {
        let some = reactions.filter { $0.isPlain == isPlain }
        return some.isEmpty ? nil : EventField(key, .lists(some.map { .init(name: $0.author, texts: $0.emoji) }))
    }

    /// The line for a person, without the time: the caller formats the time in the person's time zone.
    public var line: PrintedText {
        var words: PrintedText = ""
        if let state { words = " [\(state.rawValue)\(isSettled ? "" : ", outcome unknown")]" }
        if let reading, !reading.readers.isEmpty, state != .displayed {
            words += " (read by \(reading.readers.count) of \(reading.readers.count + reading.others.count))"
        }
        if let waiting = waitsFor?.line { words += " (waits for \(waiting))" }
        if let error { words += " (\(error))" }
        if editedAt != nil { words += " (edited)" }
        if let corrects { words += " (corrects \(corrects), which is not here)" }
        if repliesTo != nil { words += " (\(answered?.printedText ?? "answer"))" }
        if encryption?.isPlain ?? false { words += " (not encrypted)" }
        if isRetractedInPlain { words += " (a retraction came in plain, and does not count)" }
        let (text, reactions) = (bodyText(), reactionText())
        return direction == .incoming
            ? "from \(from)\(words): \(text)\(reactions)" : "to \(to)\(words): \(text)\(reactions)"
    }

    private func bodyText() -> PrintedText {
        if let words = fileText(), erasure == nil { return words }
        return switch (body, erasure, encryption?.problem) {
        case (_, .retracted?, _): "(retracted)"
        case (_, .moderated?, _): "(removed by the room)"
        case (_, .forgotten?, _): "(forgotten)"
        case (let body?, _, _): PrintedText(lines: body)
        case (nil, _, .unknownMethod?): "(encrypted: \(encryption?.method ?? ""))"
        case (nil, _, let problem?): "(encrypted, cannot be read: \(problem.rawValue))"
        case (nil, nil, nil): ""
        }
    }

    /// For people: the address of an encrypted file holds its key, which belongs on no screen and in no log. The text beside the file
    /// follows it.
    package func fileText() -> PrintedText? {
        if let file {
            let isAddress =
                ["https://", "aesgcm://"].contains { body?.begins(with: $0) ?? false }
                && !(body?.unicodeScalars.contains(where: \.properties.isWhitespace) ?? false)
            guard let body, !isAddress else { return file.printedText }
            return "\(file.printedText) \(body)"
        }
        return body?.begins(with: "aesgcm://") ?? false ? "(an encrypted file)" : nil
    }

    private func reactionText() -> PrintedText {
        guard !reactions.isEmpty else { return "" }
        let words = reactions.map { reaction in
            "\(reaction.emoji.joined(separator: " ")) \(reaction.author)\(reaction.isPlain ? " (not encrypted)" : "")"
        }
        return "  [\(words.joined(separator: ", "))]"
    }
}
