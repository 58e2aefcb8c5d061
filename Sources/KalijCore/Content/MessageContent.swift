import KalijText
import KalijXML

/// The content of a message for human readers. This is the only place that determines, for all sources, whether a message is shown in
/// its conversation: it has a text, or shares a file, or is a call. A message that cannot be decrypted is shown, too
/// (`EncryptionFeature`); an invitation is handled separately (`Invitations`), and an operation changes another message
/// (`MessageOperations`).
package struct MessageContent {
    /// The text to show; nil if there is none.
    package let text: String?
    /// The file that the message shares.
    package let file: SharedFile?

    package var isLine: Bool { text != nil || file != nil }

    /// Extensions that extend or replace the text: the message is shown nevertheless, so the text without fallbacks must not be empty.
    private static let texts: Set = [Reply.namespace, correction]
    private static let correction = "urn:xmpp:message-correct:0"
    /// Extensions that carry the whole content themselves.
    private static let others: Set = [
        "urn:xmpp:reactions:0", "urn:xmpp:message-retract:1", "urn:xmpp:receipts", "urn:xmpp:chat-markers:0",
        "http://jabber.org/protocol/chatstates",
    ]
    private static let files: Set = [SharedFile.sharing, SharedFile.outOfBand]

    /// - Parameters:
    ///   - message: the stanza; after the decryption of a whole stanza, the decrypted one.
    ///   - type: RFC 6121 5.2.2.
    package init(of message: Element, type: String) {
        let body = message.childInOwnLanguage("body", "jabber:client")?.text ?? ""
        guard message.child("fallback", Fallback.namespace) != nil else {
            let file = SharedFile(in: message, text: body)
            self.file = file
            text = Self.whole(body, message, type) ?? Self.placeholderText(for: message, file)
            return
        }
        // The text of an operation is a fallback for other clients.
        let replaced = Self.texts.filter { Self.isRead($0, in: message) }
        let own = Fallback(in: message, for: replaced).rest(of: body, in: "body")
        let file = SharedFile(in: message, text: own)
        let isFallback = file != nil && !FileAddress.isAddress(own)
        let others = Self.others.filter { message.child(in: $0) != nil }.union(isFallback ? Self.files : [])
        self.file = file
        text =
            Self.text(body, message, replaced, others, type, isLine: file != nil)
            ?? Self.placeholderText(for: message, file)
    }

    /// - Parameters:
    ///   - text: the only part that was encrypted: any intermediary could have written the rest.
    ///   - message: the stanza.
    package init(sealed text: String, in message: Element) {
        let isReply = Self.isRead(Reply.namespace, in: message)
        let fallback = Fallback(in: message, for: isReply ? [Reply.namespace] : [])
        let rest = fallback.restWithoutQuotes(of: text)
        let shown = rest.isBlank ? text : rest
        self.text = shown.isEmpty ? nil : shown
        file = SharedFile(sealed: shown, in: message)
    }

    private static func isRead(_ namespace: String, in message: Element) -> Bool {
        namespace == correction
            ? !(message.child("replace", correction)?["id"] ?? "").isEmpty : Reply(message) != nil
    }

    /// The subject and the text of a message without fallbacks.
    private static func whole(_ body: String, _ message: Element, _ type: String) -> String? {
        // In a groupchat message the subject is the room's (XEP-0045 section 8.1).
        let subject = type == "groupchat" ? nil : message.childInOwnLanguage("subject", "jabber:client")?.text
        guard let subject, !subject.isEmpty else { return body.isEmpty ? nil : body }
        return body.isEmpty ? subject : "\(subject)\n\(body)"
    }

    /// The subject and the text, without fallbacks.
    private static func text(
        _ body: String, _ message: Element, _ texts: Set<String>, _ others: Set<String>, _ type: String, isLine: Bool
    ) -> String? {
        let all = Fallback(in: message, for: others.isEmpty ? texts : texts.union(others))
        var lines: [String] = []
        // In a groupchat message the subject is the room's (XEP-0045 section 8.1).
        if type != "groupchat", let subject = message.childInOwnLanguage("subject", "jabber:client")?.text {
            lines.append(all.rest(of: subject, in: "subject"))
        }
        let rest = all.rest(of: body, in: "body")
        if rest.isBlank, rest != body {
            // A reply that consists of a quote alone is shown whole: it has no other content.
            let whole = Fallback(in: message, for: others).rest(of: body, in: "body")
            lines.append(whole.isBlank || isLine ? "" : whole)
        } else {
            lines.append(rest)
        }
        let text = lines.filter { !$0.isEmpty }.joined(separator: "\n")
        return text.isEmpty ? nil : text
    }

    /// The text shown in place of a missing one.
    private static func placeholderText(for message: Element, _ file: SharedFile?) -> String? {
        if let description = SharedFile.text(in: message, isFetched: file != nil) { return description }
        let isCall =
            message.child("propose", "urn:xmpp:jingle-message:0") != nil
            || message.child("invite", "urn:xmpp:call-invites:0") != nil
        return isCall ? "(a call, which this client does not support)" : nil
    }
}
