import KalijSteps
import KalijText
import KalijXML

/// The message that is answered (XEP-0461), as far as the answer tells.
package struct AnsweredMessage: Codable, Sendable, Equatable {
    /// The id by which the answer names the message.
    package let id: String
    /// The bare address of the author; in a room the occupant's address; nil for the user's own message in a room.
    let author: String?
    /// The beginning of the text, quoted for clients that do not know replies.
    let quote: String

    /// The longest quote, in bytes.
    private static let longestQuote = 600

    /// - Throws: `AcceptError.unanswerable` if nothing can name the message.
    package init(_ message: Message) throws(AcceptError) {
        guard let id = message.reference else { throw .unanswerable }
        self.id = id
        // Nobody else in the room may learn an address.
        author = message.isInRoom ? message.direction == .incoming ? message.from : nil : message.author
        let lines = (message.body ?? "").cut(to: Self.longestQuote).parts(at: "\n")
        quote = message.body == nil ? "" : lines.map { "> \($0)\n" }.joined()
    }

    /// The elements of an answer with the text `body`: the text after the quote, and the elements that say so (XEP-0428).
    func elements(_ body: String) -> [Element] {
        let reply = Element("reply", xmlns: Reply.namespace, attributes: ["id": id])
        if let author { reply["to"] = author }
        guard !quote.isEmpty else { return [Element("body", text: body), reply] }
        let range = Element("body", attributes: ["start": "0", "end": "\(quote.unicodeScalars.count)"])
        let fallback = Element(
            "fallback", xmlns: Fallback.namespace, attributes: ["for": Reply.namespace], children: [range])
        return [Element("body", text: quote + body), reply, fallback]
    }
}
