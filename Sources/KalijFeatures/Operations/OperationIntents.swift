import KalijAddress
import KalijCore
import KalijStore
import KalijXML

/// Replaces the text of one of the user's messages (XEP-0308).
public struct Correct: Intent {
    public static let name = "correct"
    /// The corrected message.
    public let message: MessageReference
    /// The new text.
    public let body: String

    /// - Parameters:
    ///   - message: the corrected message.
    ///   - body: the new text.
    public init(_ message: MessageReference, body: String) { (self.message, self.body) = (message, body) }

    public func check() throws { _ = try OutgoingText.element(body) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let original = try message.own(in: step)
        let content = try [
            OutgoingText.element(body),
            Element("replace", xmlns: MessageOperation.correction, attributes: ["id": original.messageID]),
        ]
        let stanza = OutgoingStanza(
            hidden: content, to: JID.received(original.conversation), id: id, isRepeatable: false)
        try OutgoingText.checkLength(of: stanza)
        try step.accept(stanza, as: MessageOperation(.correction, of: original.messageID, content: body))
        try step.setCorrectionDraft("", of: original)
        return .pending
    }
}

/// Retracts one of the user's messages for all (XEP-0424).
public struct Retract: Intent {
    public static let name = "retract"
    /// The retracted message.
    public let message: MessageReference

    /// - Parameter message: the retracted message.
    public init(_ message: MessageReference) { self.message = message }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let original = try message.own(in: step)
        // In a room the room's id is required (XEP-0424 section 4.1).
        let name = try original.type == "groupchat" ? message.reference(of: original) : original.messageID
        let content = [
            Element("retract", xmlns: MessageOperation.retraction, attributes: ["id": name]),
            Element("fallback", xmlns: "urn:xmpp:fallback:0", attributes: ["for": MessageOperation.retraction]),
            Element("body", text: Self.fallback),
        ]
        let stanza = OutgoingStanza(
            hidden: content, to: JID.received(original.conversation), id: id, isRepeatable: true)
        try step.accept(stanza, as: MessageOperation(.retraction, of: name))
        return .pending
    }

    /// The body for clients without support for retractions.
    private static let fallback = "/me has retracted a message, but this client does not support retractions."
}

/// Sets the user's reactions to a message (XEP-0444).
public struct React: Intent {
    public static let name = "react"
    /// The message.
    public let message: MessageReference
    /// The complete set of the user's emoji for the message; empty for none.
    public let emoji: [String]

    /// - Parameters:
    ///   - message: the message.
    ///   - emoji: the complete set of the user's emoji for the message; empty for none.
    public init(_ message: MessageReference, _ emoji: [String]) { (self.message, self.emoji) = (message, emoji) }

    public func check() throws {
        if let bad = emoji.first(where: { !Emoji.isEmoji($0) }) { throw IntentFailure("\"\(bad)\" is not one emoji") }
        guard emoji.count <= Emoji.maxCount else {
            throw IntentFailure("a message takes at most \(Emoji.maxCount) emoji")
        }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        let target = try message.changeable(in: step)
        let reference = try message.reference(of: target)
        let list = Emoji.list(emoji)
        let reactions = Element("reactions", xmlns: MessageOperation.reactions, attributes: ["id": reference])
        for emoji in list { reactions.add(Element("reaction", xmlns: MessageOperation.reactions, text: emoji)) }
        let stanza = OutgoingStanza(
            hidden: [reactions], to: JID.received(target.conversation), id: id, isRepeatable: true)
        try step.accept(
            stanza, as: MessageOperation(.reaction, of: reference, content: list.joined(separator: "\n")))
        return .pending
    }
}

/// Deletes a message from this directory; other devices and the archive keep it.
public struct Forget: Intent {
    public static let name = "forget"
    /// The message.
    public let message: MessageReference

    /// - Parameter message: the message.
    public init(_ message: MessageReference) { self.message = message }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try MessageOperations(step: step).forget(message.found(in: step).id)
        return .done
    }
}

extension MessageReference {
    /// A stored chat message whose text was not erased.
    /// - Throws: `IntentFailure`
    func changeable(in step: Step) throws -> Message {
        let message = try found(in: step)
        guard message.isShown, message.erasure == nil else { throw IntentFailure("the message is gone") }
        return message
    }

    /// The id by which a retraction, a reaction or a reply refers to `message`.
    /// - Throws: `IntentFailure` if there is none.
    fileprivate func reference(of message: Message) throws -> String {
        if let reference = message.reference { return reference }
        throw IntentFailure(
            message.type == "groupchat"
                ? "the room has given the message no id yet, so nothing can name it"
                : "the message has no id, so nothing can name it")
    }

    /// A stored message of the user's, from any device.
    /// - Throws: `IntentFailure`
    fileprivate func own(in step: Step) throws -> Message {
        let message = try changeable(in: step)
        guard message.direction == .outgoing else { throw IntentFailure("the message is somebody else's") }
        guard message.state != .failed else { throw IntentFailure("the message was never sent") }
        guard !message.messageID.isEmpty else { throw IntentFailure("the message has no id, so nothing can name it") }
        return message
    }
}

extension Step {
    /// Accepts an operation of the user's: stored, applied, and sent exactly once.
    fileprivate func accept(_ stanza: OutgoingStanza, as operation: MessageOperation) throws {
        let message = try stanza.enqueue(in: self, sentAt: now)
        try MessageOperations(step: self).insert(operation, of: message)
    }
}
