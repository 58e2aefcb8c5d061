import KalijSteps
import KalijText
import KalijXML

/// What a message says to people. One place decides for all sources whether a message is a line of its conversation: it has a text, or
/// shares a file, or is a call. What cannot be decrypted is a line, too (`EncryptionFeature`); an invitation is a question of its own
/// (`Invitations`), and an operation changes another line (`MessageOperations`).
struct MessageContent {
    /// The text as it is shown; nil if there is none.
    let text: String?
    /// The file that the message shares.
    let file: SharedFile?

    var isLine: Bool { text != nil || file != nil }

    /// Extensions that add to a text or replace it, and leave the message a line: what is left of the text must not be nothing.
    private static let texts: Set = [Reply.namespace, correction]
    private static let correction = "urn:xmpp:message-correct:0"
    /// Extensions that say everything themselves.
    private static let others: Set = [
        "urn:xmpp:reactions:0", "urn:xmpp:message-retract:1", "urn:xmpp:receipts", "urn:xmpp:chat-markers:0",
        "http://jabber.org/protocol/chatstates",
    ]
    private static let files: Set = [SharedFile.sharing, SharedFile.outOfBand]

    /// - Parameters:
    ///   - message: the stanza; after a decryption of all of it, as it would be in plain.
    ///   - type: RFC 6121 5.2.2.
    init(of message: Element, type: String) {
        let body = message.childInOwnLanguage("body", "jabber:client")?.text ?? ""
        // What an operation says in a text is for others.
        let replaced = Self.texts.filter { Self.isRead($0, in: message) }
        let own = Fallback(in: message, for: replaced).rest(of: body, in: "body")
        let file = SharedFile(in: message, text: own)
        let isFallback = file != nil && !FileAddress.isAddress(own)
        let others = Self.others.filter { message.child(in: $0) != nil }.union(isFallback ? Self.files : [])
        self.file = file
        text = Self.text(body, message, replaced, others, type, isLine: file != nil) ?? Self.words(for: message, file)
    }

    /// - Parameters:
    ///   - text: what alone was encrypted: anybody on the way can have written all the rest.
    ///   - message: the stanza.
    init(sealed text: String, in message: Element) {
        let isReply = Self.isRead(Reply.namespace, in: message)
        let fallback = Fallback(in: message, for: isReply ? [Reply.namespace] : [])
        let rest = fallback.restWithoutQuotes(of: text)
        let shown = rest.isBlank ? text : rest
        self.text = shown.isEmpty ? nil : shown
        file = SharedFile(sealed: shown, in: message)
    }

    /// The content of a message after the turns of the features.
    init(of message: IncomingMessage) {
        if message.encryption?.coversTextAlone ?? false {
            self.init(sealed: message.body ?? "", in: message.element)
        } else {
            self.init(of: message.element, type: message.type)
        }
    }

    private static func isRead(_ namespace: String, in message: Element) -> Bool {
        namespace == correction
            ? !(message.child("replace", correction)?["id"] ?? "").isEmpty : Reply(message) != nil
    }

    /// The subject and the text, without fallbacks.
    private static func text(
        _ body: String, _ message: Element, _ texts: Set<String>, _ others: Set<String>, _ type: String, isLine: Bool
    ) -> String? {
        let all = Fallback(in: message, for: texts.union(others))
        var lines: [String] = []
        // In a room the subject is the room's (XEP-0045 section 8.1).
        if type != "groupchat", let subject = message.childInOwnLanguage("subject", "jabber:client")?.text {
            lines.append(all.rest(of: subject, in: "subject"))
        }
        let rest = all.rest(of: body, in: "body")
        if rest.isBlank, rest != body {
            // An answer that is all quote is shown whole: the author has said nothing else.
            let whole = Fallback(in: message, for: others).rest(of: body, in: "body")
            lines.append(whole.isBlank || isLine ? "" : whole)
        } else {
            lines.append(rest)
        }
        let text = lines.filter { !$0.isEmpty }.joined(separator: "\n")
        return text.isEmpty ? nil : text
    }

    /// What stands for a text that is not there.
    private static func words(for message: Element, _ file: SharedFile?) -> String? {
        if let description = SharedFile.words(in: message, isFetched: file != nil) { return description }
        let isCall =
            message.child("propose", "urn:xmpp:jingle-message:0") != nil
            || message.child("invite", "urn:xmpp:call-invites:0") != nil
        return isCall ? "(a call, which this client does not support)" : nil
    }
}

extension IncomingMessage {
    /// Reads what the stanza says to people, before any feature has its turn.
    mutating func readContent() {
        let content = MessageContent(of: element, type: type)
        (body, isShown) = (content.text, content.isLine)
        isKept = isShown || stanzaID != nil
    }

    /// A feature has read its part of the message: without anything else the message is of no interest any more.
    mutating func dropUnlessNeeded() { isKept = isShown || isNeeded }

    /// The text as a line of the conversation.
    var shownBody: String? { isShown && encryption?.problem == nil ? body : nil }
}

extension String {
    /// Whether there is nothing to be seen.
    fileprivate var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
