import KalijCore
import KalijText
import KalijXML

/// A message that changes another message: a correction, a retraction or the reactions of an author.
struct MessageOperation: Equatable {
    enum Kind: String {
        /// XEP-0308
        case correction
        /// XEP-0424
        case retraction
        /// XEP-0444
        case reaction
    }

    let kind: Kind
    /// The id that refers to the changed message.
    let reference: String
    /// The new text of a correction; the emoji of a reaction, one a line; nil for a retraction.
    let content: String?

    static let correction = "urn:xmpp:message-correct:0"
    static let retraction = "urn:xmpp:message-retract:1"
    static let reactions = "urn:xmpp:reactions:0"
    /// The retraction of XEP-0424 before version 0.4, within `<apply-to/>` (XEP-0422).
    private static let (oldRetraction, fastening) = ("urn:xmpp:message-retract:0", "urn:xmpp:fasten:0")

    /// The maximum length of a stored reference in bytes.
    private static let maxReferenceLength = 1000

    /// The operation in a message; nil if the message is not an operation, or malformed.
    /// - Parameter body: the text; nil for the body of the stanza.
    init?(_ message: Element, body: String? = nil) {
        if let replace = message.child("replace", Self.correction) {
            let text = body ?? message.childInOwnLanguage("body", "jabber:client")?.text
            // A correction must not remove the text.
            guard let body = text, !body.isEmpty else { return nil }
            (kind, content) = (.correction, body)
            guard let id = Self.id(of: replace) else { return nil }
            reference = id
        } else if let retract = Self.retraction(in: message) {
            (kind, content) = (.retraction, nil)
            guard let id = Self.id(of: retract) else { return nil }
            reference = id
        } else if let reactions = message.child("reactions", Self.reactions) {
            (kind, content) = (
                .reaction, Emoji.list(reactions.children("reaction").map(\.text.trimmed)).joined(separator: "\n")
            )
            guard let id = Self.id(of: reactions) else { return nil }
            reference = id
        } else {
            return nil
        }
    }

    init(_ kind: Kind, of reference: String, content: String? = nil) {
        (self.kind, self.reference, self.content) = (kind, reference, content)
    }

    /// Whether the message is an operation, possibly a malformed one. A text in it is then a fallback for clients without support for
    /// the operation (XEP-0428), and not displayed in the conversation.
    static func isMeant(by message: Element) -> Bool {
        message.child("reactions", reactions) != nil || retraction(in: message) != nil
    }

    /// The text of a retraction in a message of which only the text is encrypted. It contains the id of the retracted message, so that
    /// no intermediary can turn another text into a retraction, or redirect the retraction to another message.
    static func sealedText(ofRetraction id: String) -> String {
        "/me has retracted the message \(id), but this client does not support retractions."
    }

    /// Replaces the text of a retraction by the one that proves it.
    static func seal(_ message: Element) {
        guard let id = retraction(in: message).flatMap(id) else { return }
        message.child("body", "jabber:client")?.setText(sealedText(ofRetraction: id))
    }

    /// Whether the encrypted text `body` of a message proves the unencrypted operation in the same message.
    static func isProven(by body: String?, in message: Element) -> Bool {
        guard message.child("reactions", reactions) == nil, let id = retraction(in: message).flatMap(id) else {
            return false
        }
        return body.map { Array($0.utf8) } == Array(sealedText(ofRetraction: id).utf8)
    }

    /// The message without retractions and reactions.
    static func removed(from message: Element) -> Element {
        let rest = message.copy()
        while let part = retraction(in: rest) ?? rest.child("reactions", reactions) { part.remove() }
        return rest
    }

    /// The emoji of a reaction.
    static func emoji(in content: String?) -> [String] {
        (content ?? "").words(at: "\n")
    }

    private static func retraction(in message: Element) -> Element? {
        if let retract = message.child("retract", retraction) { return retract }
        guard let fastening = message.child("apply-to", fastening), fastening.child("retract", oldRetraction) != nil
        else { return nil }
        return fastening
    }

    private static func id(of element: Element) -> String? {
        guard let id = element["id"], !id.isEmpty, id.utf8.count <= maxReferenceLength else { return nil }
        return id
    }
}
