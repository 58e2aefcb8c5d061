import KalijText
import KalijXML

/// The message that a reply refers to (XEP-0461), as far as the reply carries it.
package struct AnsweredMessage: Codable, Sendable, Equatable {
    /// The id by which the reply refers to the message.
    package let id: String
    /// The bare address of the author; in a room the occupant's address; nil for the user's own message in a room.
    package let author: String?
    /// The beginning of the text, quoted for clients without support for replies.
    package let quote: String

    /// The maximum length of a quote, in bytes.
    private static let maxQuoteLength = 600

    /// - Throws: `AcceptError.unanswerable` if the message has no id to refer to.
    package init(_ message: Message) throws(AcceptError) {
        guard let id = message.reference else { throw .unanswerable }
        self.id = id
        // The account's own address must not be disclosed in a room.
        author = message.isInRoom ? message.direction == .incoming ? message.from : nil : message.author
        let lines = (message.body ?? "").cut(to: Self.maxQuoteLength).parts(at: "\n")
        quote = message.body == nil ? "" : lines.map { "> \($0)\n" }.joined()
    }

    /// The message with the id `id`, to which a message of the user's replies; without a quote if it is not stored any more.
    package init(_ id: String, _ message: Message?) {
        let known = message.flatMap { try? AnsweredMessage($0) }
        (self.id, author, quote) = (id, known?.author, known?.quote ?? "")
    }

    /// The elements of a reply with the text `body`: the quote and the text, the reference, and the indication of the quote
    /// (XEP-0428).
    package func elements(_ body: String) -> [Element] {
        let reply = Element("reply", xmlns: Reply.namespace, attributes: ["id": id])
        if let author { reply["to"] = author }
        guard !quote.isEmpty else { return [Element("body", text: body), reply] }
        let range = Element("body", attributes: ["start": "0", "end": "\(quote.unicodeScalars.count)"])
        let fallback = Element(
            "fallback", xmlns: Fallback.namespace, attributes: ["for": Reply.namespace], children: [range])
        return [Element("body", text: quote + body), reply, fallback]
    }
}
