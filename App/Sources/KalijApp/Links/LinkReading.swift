import CGIO
import KalijAddress

extension TextLink {
    /// - Parameters:
    ///   - text: an address as it was written.
    ///   - range: its place in the message.
    /// - Returns: nil if the text is not an address that can be opened.
    init?(_ text: String, at range: Range<Int>) {
        guard text.utf8.count <= Self.longest, let colon = text.firstIndex(of: ":") else { return nil }
        let read =
            switch text[..<colon].lowercased() {
            case "xmpp": Self.chat(text)
            case "mailto": Self.mail(text)
            default: Self.page(text)
            }
        guard let (kind, address, host, doubt) = read else { return nil }
        let direction = text.unicodeScalars.contains(where: Self.runsLeft) ? Doubt.direction : nil
        self.init(range: range, kind: kind, address: address, host: host, doubt: doubt ?? direction)
    }

    private typealias Reading = (Kind, address: String, host: String, Doubt?)

    /// GLib's parser, which writes the name of the server in ASCII as browsers do.
    private static func page(_ text: String) -> Reading? {
        guard let uri = g_uri_parse(text, G_URI_FLAGS_ENCODED, nil) else { return nil }
        defer { g_uri_unref(uri) }
        guard let host = g_uri_get_host(uri).map({ String(cString: $0) }), isHost(host),
            let whole = g_uri_to_string(uri)
        else { return nil }
        defer { g_free(whole) }
        let address = String(cString: whole)
        guard let user = g_uri_get_userinfo(uri).map({ String(cString: $0) }) else {
            return (.page, address, host, isDoubtful(host, in: text) ? .letters : nil)
        }
        return user.contains("@") ? nil : (.page, address, host, .user)
    }

    /// A name of letters, digits, dots and hyphens, or an address of IPv6: what every program reads alike.
    private static func isHost(_ host: String) -> Bool {
        let isAddress = host.contains(":")
        return host.unicodeScalars.contains { isLetter($0) || isDigit($0) }
            && host.unicodeScalars.allSatisfy {
                isLetter($0) || isDigit($0) || "-._".unicodeScalars.contains($0) || isAddress && $0 == ":"
            }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// Whether the name of the server was written with other letters than those of ASCII, or is in the form for them.
    private static func isDoubtful(_ host: String, in text: String) -> Bool {
        let written = text.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/?#".contains($0) }
        return isInternational(host) || !written.unicodeScalars.allSatisfy { $0.isASCII && $0 != "%" }
    }

    private static func isInternational(_ host: String) -> Bool {
        host.lowercased().split(separator: ".").contains { $0.hasPrefix("xn--") }
    }

    private static func chat(_ text: String) -> Reading? {
        guard let uri = XMPPURI(text) else { return nil }
        let domain = uri.jid.domain
        guard let ascii = g_hostname_to_ascii(domain) else { return nil }
        defer { g_free(ascii) }
        let host = String(cString: ascii)
        return (.chat, text, host, isInternational(host) ? .letters : nil)
    }

    /// The addresses alone: the rest could attach files.
    private static func mail(_ text: String) -> Reading? {
        let address = String(text.prefix { $0 != "?" && $0 != "#" })
        let parts = address.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let ascii = g_hostname_to_ascii(String(parts[1])) else { return nil }
        defer { g_free(ascii) }
        let host = String(cString: ascii)
        guard isHost(host) else { return nil }
        return (.mail, address, host, isInternational(host) ? .letters : nil)
    }

    /// Whether the letter is written from right to left.
    private static func runsLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}
