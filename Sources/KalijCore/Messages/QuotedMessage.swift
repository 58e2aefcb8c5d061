import KalijText

/// A message as it is shown above an answer to it (XEP-0461).
public struct QuotedMessage: Sendable, Equatable {
    /// The local row (``Message/id``).
    public let id: Int64
    /// Whether the message is incoming or outgoing.
    public let direction: Direction
    /// The canonical address of the sender; in a room the occupant's address at that time.
    public let from: String
    /// The bare address of the author, as far as it is proven (``Message/author``).
    public let author: String?
    /// The beginning of the text, at most ``longestText`` bytes of UTF-8, cut between Characters; nil without a text that can be read.
    public let text: String?
    /// Whether ``text`` is only the beginning of the text.
    public let isCut: Bool
    /// Why the text was removed; nil if it was not.
    public let erasure: Erasure?
    /// The name of the file that the message shares, empty if the file has none; nil without a file.
    public let file: String?

    /// In bytes.
    public static let longestText = 600

    /// - Parameters:
    ///   - start: the beginning of the text, longer than ``longestText`` if the text is.
    ///   - file: see ``file``.
    package init(_ message: Message, start: String?, file: String?) {
        (id, direction, from, author) = (message.id, message.direction, message.from, message.author)
        (erasure, self.file) = (message.erasure, file)
        // The address of an encrypted file holds its key, which belongs on no screen.
        let isAddress =
            start?.begins(with: "aesgcm://") ?? false || file != nil && (start?.begins(with: "https://") ?? false)
        let shown = isAddress ? nil : start
        text = shown?.cut(to: Self.longestText)
        isCut = (shown?.utf8.count ?? 0) > Self.longestText
    }

    /// For JSON.
    var fields: [EventField] {
        .present(
            EventField(.id, .integer(id)), EventField(.direction, .text(direction.rawValue)),
            .optional(.author, author), EventField(.from, .text(from)),
            .optional(EventKey("text", ""), text), isCut ? EventField(EventKey("cut", ""), .flag(true)) : nil,
            erasure == .retracted ? EventField(.retracted, .flag(true)) : .optional(.erased, erasure?.rawValue),
            .optional(.file, file))
    }

    /// For people: no quote in the text ends the quote.
    var printedText: PrintedText {
        let who = direction == .outgoing ? "you" : PrintedText(field: author ?? from)
        let start = text.map { $0.cut(to: 80) }
        let isWhole = !isCut && start?.utf8.count == text?.utf8.count
        let quote: PrintedText =
            switch (start, erasure) {
            case (_, _?): "a message that is gone"
            case (let start?, nil): "“\(PrintedText(field: Self.plain(start)))\(isWhole ? "" : "…")”"
            case (nil, nil): file == nil ? "a message that cannot be read" : "a file"
            }
        return "answers \(who): \(quote)"
    }

    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { "“”\"".unicodeScalars.contains($0) ? "'" : $0 }))
    }
}
