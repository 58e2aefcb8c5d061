import KalijAddress
import KalijCore
import KalijXML

/// Sends a text of the user's again that has failed, or whose outcome is unknown. The message keeps its id, so that a recipient who has
/// it recognizes the copy, and its place in the conversation.
public struct Resend: Intent {
    public static let name = "resend"
    /// The message.
    public let message: MessageReference
    /// Nil in an intent of an earlier version.
    private let plain: Bool?

    /// Whether a text that was encrypted is sent without encryption.
    public var isPlain: Bool { plain ?? false }

    /// - Parameters:
    ///   - message: the message.
    ///   - isPlain: whether a text that was encrypted is sent without encryption; otherwise it stays encrypted, also in a conversation
    ///     that no longer is.
    public init(_ message: MessageReference, isPlain: Bool = false) { (self.message, plain) = (message, isPlain) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let original = try message.resendable(in: step)
        var stanza = OutgoingStanza(again: original, content: try content(of: original, in: step))
        if isPlain {
            stanza.privacy = .plain
            try MessageWriter(step: step).set(nil, of: original.id)
        }
        try stanza.enqueueAgain(original, in: step)
        return .done
    }

    private func content(of original: Message, in step: Step) throws -> [Element] {
        let body = original.body ?? ""
        guard let reply = original.repliesTo else { return [try OutgoingText.element(body)] }
        let messages = MessageReader(database: step.database, account: step.account.id)
        let named = try messages.named(reply, in: original.conversation, by: .anybody, from: original.id)
        return try AnsweredMessage(reply, named.flatMap { try messages.message($0.row) }).elements(body)
    }
}

extension MessageReference {
    /// A text that was accepted in this directory, and is not on its way.
    /// - Throws: `IntentFailure`
    fileprivate func resendable(in step: Step) throws -> Message {
        let message = try changeable(in: step)
        guard message.direction == .outgoing else { throw IntentFailure("the message is somebody else's") }
        guard try MessageReader(database: step.database, account: step.account.id).isAccepted(message.id) else {
            throw IntentFailure("another device has sent the message")
        }
        guard message.state == .failed || !message.isSettled else {
            throw IntentFailure("the message is on its way, or has arrived")
        }
        let uploads = UploadRows(database: step.database, account: step.account.id)
        guard try ReceivedFileRows(database: step.database).row(of: message.id) == nil,
            try uploads.row(for: message.messageID) == nil
        else { throw IntentFailure("the message has a file, which is sent again by its upload: `kalij uploads retry`") }
        return message
    }
}
