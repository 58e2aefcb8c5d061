import KalijSteps
import KalijText
import KalijXML

/// The part of a message that says which message is answered (XEP-0461).
struct Reply {
    static let namespace = "urn:xmpp:reply:0"
    /// The id of the answered message.
    let id: String
    /// The characters of the body that quote the answered message for other clients (XEP-0428), by code points.
    private let quote: Range<Int>?

    /// The reply in a message; nil if the message answers none.
    init?(_ message: Element) {
        guard let id = message.child("reply", Self.namespace)?["id"], !id.isEmpty, id.utf8.count <= 1000 else {
            return nil
        }
        self.id = id
        let fallback = message.children.first {
            $0.isNamed("fallback", "urn:xmpp:fallback:0") && $0["for"] == Self.namespace
        }
        let body = fallback?.child("body")
        if let start = body?["start"].flatMap({ Int($0) }), let end = body?["end"].flatMap({ Int($0) }), start >= 0,
            start < end
        {
            quote = start..<end
        } else {
            quote = nil
        }
    }

    /// The body without the quote; the whole body if the quote is not a part of it.
    /// - Parameter isQuoteSure: whether the author has said what is a quote; otherwise it has to look like one.
    func strippingQuote(from body: String, isQuoteSure: Bool) -> String {
        guard let quote, quote.upperBound <= body.unicodeScalars.count else { return body }
        var scalars = body.unicodeScalars
        let start = scalars.index(scalars.startIndex, offsetBy: quote.lowerBound)
        let end = scalars.index(start, offsetBy: quote.count)
        if !isQuoteSure {
            // characters: scalars.
            let lines = scalars[start..<end].split(separator: "\n", omittingEmptySubsequences: true)
            let isWhole = start == scalars.startIndex && (end == scalars.endIndex || scalars[..<end].last == "\n")
            guard isWhole, lines.allSatisfy({ $0.first == ">" }) else { return body }
        }
        scalars.removeSubrange(start..<end)
        let rest = String(scalars)
        return rest.isEmpty ? body : rest
    }
}

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
        author = message.author ?? (message.direction == .incoming ? message.from : nil)
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
            "fallback", xmlns: "urn:xmpp:fallback:0", attributes: ["for": Reply.namespace], children: [range])
        return [Element("body", text: quote + body), reply, fallback]
    }
}
