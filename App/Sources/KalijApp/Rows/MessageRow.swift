import KalijClient

/// A message as it is displayed, a plain value.
public struct MessageRow: Sendable, Equatable {
    /// The local row; negative while the message is pending in the mailbox.
    public var id: Int64
    /// "You" for the user's own.
    public var author: String
    public var isOwn: Bool
    /// The verified author in a group: a nickname may be reused after its owner has left.
    public var proven: RoomAuthor?
    /// The quotation of the message that this one replies to: "answers Juliet: “Good night”".
    public var answered: String?
    public var text: String
    /// The addresses in the text.
    public var links: [TextLink] = []
    /// Whether the text is truncated.
    public var isCut = false
    /// Whether the text is the app's own, such as "Message removed".
    public var isNotice = false
    /// Milliseconds since 1970.
    public var at: Int64
    public var state: DeliveryState?
    /// Who has read the user's message in a group; nil where the members do not tell.
    public var reading: ReadingRow?
    public var reactions: [ReactionCount] = []
    /// The complete set of the user's own emoji.
    public var ownReactions: [String] = []
    public var isEdited = false
    /// Whether the message has an id to which replies, reactions and retractions refer.
    public var isReferable = false
    public var file: FileRow?
    /// How the message was protected; nil in a conversation that is not encrypted.
    public var protection: Protection?
    /// The number of devices, or of people without a device, that cannot read the user's message.
    public var leftOut = 0
    /// The id with which the user's own message was accepted.
    var origin: String?

    public init(id: Int64, author: String, isOwn: Bool, text: String, at: Int64, state: DeliveryState? = nil) {
        (self.id, self.author, self.isOwn, self.text, self.at, self.state) = (id, author, isOwn, text, at, state)
    }

    /// The line under the text.
    public func foot(_ time: String) -> String {
        ([isEdited ? Words.edited : "", file?.details ?? "", time, stateWords] + marks).filter { !$0.isEmpty }
            .joined(separator: "  ·  ")
    }

    /// The delivery state; in a group, how many have read the message.
    private var stateWords: String {
        let words = state?.words ?? ""
        return state?.isProblem ?? false ? words : reading?.words ?? words
    }

    /// Whether the same author is displayed; another user with the same nickname is a different author.
    func isSameAuthor(as other: MessageRow) -> Bool {
        author == other.author && isOwn == other.isOwn && proven == other.proven
    }

    /// Identifies the author: equal for all messages of the same author, and the bare address if the room shows it.
    public var authorKey: String {
        if case .address(let jid)? = proven { return jid.description }
        return proven?.text ?? author
    }

    static func sentences(_ words: String, _ more: [String]) -> String {
        guard !more.isEmpty else { return words }
        let isSentence = words.last.map(".!?…".contains) ?? true
        return words + (isSentence ? " " : ". ") + more.joined(separator: ". ")
    }

    /// The accessible name: "Juliet, 19:15: Good night. Delivered".
    public func spoken(_ time: String) -> String {
        let words = "\(author), \(time)\(answered.map { ", " + $0 } ?? ""): \(text)"
        let more = [
            isCut ? Words.cut : "", isEdited ? Words.edited : "",
            links.isEmpty ? "" : Words.links(links.count),
            reactions.isEmpty ? "" : Words.reactions(reactions.map(\.words).joined(separator: ", ")),
            file?.details ?? "", stateWords,
        ]
        return Self.sentences(words, (more + marks).filter { !$0.isEmpty })
    }
}

/// The delivery state of an own message, described for the user.
public enum DeliveryState: Sendable, Equatable {
    /// The message is not sent yet; with the reason, nil if it is unknown.
    case waiting(WaitReason?)
    case sending, sent, delivered, read
    /// The message was refused, with the reason if there is one.
    case notSent(String?)
    /// The session was lost before the server acknowledged the message.
    case unknown

    public var words: String {
        switch self {
        case .waiting(.nothing?): Words.sending
        case .waiting(let reason): reason.map(Words.waiting(for:)) ?? Words.waiting
        case .sending: Words.sending
        case .sent: Words.sent
        case .delivered: Words.delivered
        case .read: Words.read
        case .notSent(nil): Words.notSent
        case .notSent(let why?): Words.notSent(why: why)
        case .unknown: Words.unknown
        }
    }

    /// Whether the server or the recipient has refused the message.
    public var isFailure: Bool { if case .notSent = self { true } else { false } }

    public var isProblem: Bool {
        switch self {
        case .notSent, .unknown: true
        default: false
        }
    }

    /// In a room, `delivered` means that the room has reflected the message, which is displayed as "Sent".
    init?(
        _ state: MessageState?, isSettled: Bool, isInRoom: Bool, error: Reason?, waitsFor: WaitReason? = nil
    ) {
        guard let state else { return nil }
        guard isSettled else {
            self = .unknown
            return
        }
        self =
            switch state {
            case .queued: .waiting(waitsFor)
            case .sent: .sending
            case .acked: isInRoom ? .sending : .sent
            case .delivered: isInRoom ? .sent : .delivered
            case .displayed: .read
            case .failed: .notSent(error.map(Words.why))
            }
    }
}

extension MessageRow {
    /// - Parameters:
    ///   - name: the name of the peer.
    ///   - account: the bare address of the account.
    ///   - people: the known people, for the authors in a room.
    init(_ message: Message, name: String, account: String, people: People) {
        let isOwn = message.direction == .outgoing
        let isInRoom = message.type == "groupchat"
        let author =
            isOwn
            ? Words.you : isInRoom ? people.author(Self.nick(message.from, name), message.author) : name.shownAuthor
        self.init(id: message.id, author: author, isOwn: isOwn, text: "", at: message.sentAt)
        proven = message.roomAuthor
        if message.repliesTo != nil {
            answered = message.answered.map { Self.answered($0, isInRoom, name, people) } ?? Words.answersUnknown
        }
        (text, isCut, isNotice) = Self.content(message)
        if message.erasure == nil { file = message.file.map { FileRow($0) } }
        if file == nil, !isNotice { links = TextLink.all(in: text, isCut: isCut) }
        protection = message.encryption.flatMap { Protection($0) }
        leftOut = message.encryption?.leftOut.count ?? 0
        origin = isOwn ? message.originID : nil
        if isOwn {
            state = DeliveryState(
                message.state, isSettled: message.isSettled, isInRoom: isInRoom, error: message.error,
                waitsFor: message.waitsFor)
            reading =
                isInRoom
                ? message.reading.map { ReadingRow($0, people) }
                : ContactReading(state, by: name.shownName).map { .contact($0) }
        }
        reactions = ReactionCount.counts(message.reactions.map { ($0.author, $0.emoji) }, of: account)
        ownReactions = message.reactions.filter { $0.author == account }.flatMap(\.emoji)
        isReferable = message.reference != nil
        isEdited = message.editedAt != nil && message.erasure == nil
    }

    /// The nickname in the address of an occupant; the name of the room if the room itself is the author.
    private static func nick(_ from: String, _ name: String) -> String {
        from.split(separator: "/", maxSplits: 1).dropFirst().first.map(String.init) ?? name
    }

    /// Quotation marks in the text are replaced, so that they cannot end the quotation.
    static func answered(
        _ message: QuotedMessage, _ isInRoom: Bool, _ name: String, _ people: People
    ) -> String {
        var words = Words.unreadable
        if message.erasure != nil {
            words = Words.removed
        } else if let text = message.text {
            let line = text.shownLine
            let isWhole = !message.isCut && line.utf8.count >= text.utf8.count
            words = "“" + line.replacing("”", with: "'").replacing("“", with: "'") + (isWhole ? "”" : "…”")
        } else if let file = message.file {
            words = Words.file(file.shownName)
        }
        guard message.direction == .incoming else { return Words.answersYou(words) }
        let author = isInRoom ? people.author(nick(message.from, name), message.author) : name.shownAuthor
        return Words.answers(author, words)
    }

    private static func content(_ message: Message) -> (String, Bool, Bool) {
        if message.erasure != nil { return (Words.removed, false, true) }
        if let file = message.file { return (FileRow(file).title, false, false) }
        if message.encryption?.problem != nil { return (Words.unreadable, false, true) }
        let shown = (message.body ?? "").shownText
        return (shown.text, shown.isCut, false)
    }
}
