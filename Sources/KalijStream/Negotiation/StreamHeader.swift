import KalijAddress
import KalijText
import KalijXML

/// The opening tags of a stream (RFC 6120, 4.7).
enum StreamHeader {
    /// The client's header. It contains `account` only inside TLS (4.7.1: to protect the identity).
    ///
    /// Prepared addresses contain no character that XML would have to escape; `isLanguage` validates `language`.
    /// - Parameter isDeclared: whether the XML declaration precedes the header (11.5: it should). A pipelined header omits it, at a
    ///   server that has accepted a login before: 21 bytes.
    static func bytes(account: JID, isSecured: Bool, language: String, isDeclared: Bool = true) -> [UInt8] {
        var header = isDeclared ? "<?xml version='1.0'?>" : ""
        header += "<stream:stream xmlns='\(Namespace.client)' "
        header += "xmlns:stream='\(Namespace.stream)' version='1.0' xml:lang='\(language)' to='\(account.domain)'"
        if isSecured { header += " from='\(account.bare)'" }
        return Array((header + ">").utf8)
    }

    /// Whether a text has the form of a language tag (RFC 5646).
    static func isLanguage(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte == UInt8(ascii: "-")
            }
    }

    /// The error in the server's header; nil if there is none.
    static func problem(in header: Element, domain: String) -> String? {
        guard header.isNamed("stream", Namespace.stream) else {
            return "<\(header.name.cut(to: 40))> is no XMPP stream"
        }
        guard header.defaultNamespace == Namespace.client else { return "it is not for clients: no jabber:client" }
        guard let version = header["version"] else { return "a server of before XMPP 1.0: no version" }
        let numbers = version.parts(at: ".")
        // fits: text gives nil
        guard numbers.count == 2, let major = UInt(numbers[0]), UInt(numbers[1]) != nil, major >= 1 else {
            return "version \"\(version.cut(to: 20))\" is not supported"
        }
        // RFC 6120, 4.7.1, requires a "from"; a server without it was nevertheless found under this name.
        if let from = header["from"] {
            let sender = JID.received(from)
            guard sender.local == nil, sender.isBare, sender.domain.exact == domain.exact else {
                return "it speaks for \"\(from.cut(to: 100))\", not for \"\(domain)\""
            }
        }
        return nil
    }
}
