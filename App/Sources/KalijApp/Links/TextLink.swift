import CGIO

/// An address in a message that can be opened.
public struct TextLink: Sendable, Equatable {
    /// The program that opens an address.
    public enum Kind: Sendable { case page, mail, chat }

    /// Why the address may lead elsewhere than it seems to.
    public enum Doubt: Sendable, Equatable {
        /// The name of the server has letters that may look like others.
        case letters
        /// A name stands in front of the server's.
        case user
        /// Letters are written from right to left, which moves the parts of the address.
        case direction
    }

    /// The place in the text, in bytes of UTF-8.
    public let range: Range<Int>
    public let kind: Kind
    /// The address as it is opened.
    public let address: String
    /// The server to which it leads, in ASCII.
    public let host: String
    public var doubt: Doubt?

    /// The address for a menu.
    public var shownAddress: String {
        address.count > Self.longestShown ? address.prefix(Self.longestShown) + "…" : address
    }

    /// The largest number of links in a message, and the maximum length of one in bytes.
    static let (most, longest) = (50, 2_000)
    private static let longestShown = 80
}

extension TextLink {
    /// The text with its links, as Pango's markup.
    public static func markup(_ text: String, _ links: [TextLink]) -> String {
        let bytes = text.utf8
        var (markup, rest) = ("", bytes.startIndex)
        for link in links {
            let (start, end) = (place(link.range.lowerBound, in: bytes), place(link.range.upperBound, in: bytes))
            markup += escaped(text[rest..<start])
            let address = escaped(link.address[...])
            // The title is markup, too.
            markup += "<a href=\"\(address)\" title=\"\(escaped(escaped(link.shownAddress[...])[...]))\">"
            markup += escaped(text[start..<end]) + "</a>"
            rest = end
        }
        return markup + escaped(text[rest...])
    }

    private static func place(_ offset: Int, in bytes: String.UTF8View) -> String.Index {
        bytes.index(bytes.startIndex, offsetBy: offset, limitedBy: bytes.endIndex) ?? bytes.endIndex
    }

    private static func escaped(_ text: Substring) -> String {
        guard let escaped = g_markup_escape_text(String(text), -1) else { return "" }
        defer { g_free(escaped) }
        return String(cString: escaped)
    }
}
