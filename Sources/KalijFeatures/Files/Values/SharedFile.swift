import KalijSteps
import KalijText
import KalijXML

import FoundationEssentials

/// A file that a message shares: what is said about it, and where it is.
struct SharedFile: Equatable {
    let address: FileAddress
    var description: FileDescription

    static let sharing = "urn:xmpp:sfs:0"
    private static let outOfBand = "jabber:x:oob"
    private static let urlData = "http://jabber.org/protocol/url-data"
    private static let encryption = "urn:xmpp:esfs:0"
    private static let ciphers = ["urn:xmpp:ciphers:aes-256-gcm-nopadding:0"]

    // MARK: Sending

    /// The parts of a message with a file that is not encrypted. Conversations, Monal and Gajim go by the URL that is the whole text
    /// and is named out of band (XEP-0066); newer clients by XEP-0447.
    var content: [Element] {
        let url = address.url
        return [
            Element("body", text: url),
            Element("x", xmlns: Self.outOfBand, children: [Element("url", xmlns: Self.outOfBand, text: url)]),
            Element(
                "file-sharing", xmlns: Self.sharing, attributes: ["disposition": isPicture ? "inline" : "attachment"],
                children: [
                    description.element,
                    Element(
                        "sources", xmlns: Self.sharing,
                        children: [Element("url-data", xmlns: Self.urlData, attributes: ["target": url])]),
                ]),
            Element(
                "fallback", xmlns: "urn:xmpp:fallback:0", attributes: ["for": Self.sharing],
                children: [Element("body", xmlns: "urn:xmpp:fallback:0")]),
        ]
    }

    private var isPicture: Bool {
        ["image/", "video/", "audio/"].contains { description.type?.begins(with: $0) ?? false }
    }

    // MARK: Receiving

    /// The file of a message; nil if the message shares none. What a text merely links to is no file.
    init?(_ message: IncomingMessage) {
        // Beside a text that alone is encrypted anybody on the way can name a file.
        let isSure = !(message.encryption?.coversTextAlone ?? false)
        let sharing = isSure ? message.element.child("file-sharing", Self.sharing) : nil
        let description = sharing.map(FileDescription.init(in:)) ?? FileDescription()
        guard let address = Self.address(in: message, sharing) else { return nil }
        (self.address, self.description) = (address, description)
    }

    init(_ address: FileAddress, _ description: FileDescription) {
        (self.address, self.description) = (address, description)
    }

    private static func address(in message: IncomingMessage, _ sharing: Element?) -> FileAddress? {
        let body = message.body?.trimmed ?? ""
        if let address = FileAddress(encrypted: body) { return address }
        if let sources = sharing?.child("sources", Self.sharing) {
            if let address = encrypted(in: sources) ?? plain(in: sources) { return address }
        }
        // The URL has to be the whole text: else it is a link in a text (XEP-0066 section 4).
        let url = message.element.child("x", outOfBand)?.child("url", outOfBand)?.text.trimmed
        if let url, url == body || body.isEmpty, FileAddress.isWeb(url) { return FileAddress(url: url, key: nil) }
        return nil
    }

    private static func plain(in sources: Element) -> FileAddress? {
        let targets = sources.children.compactMap { $0.isNamed("url-data", urlData) ? $0["target"] : nil }
        return targets.first(where: FileAddress.isWeb).map { FileAddress(url: $0, key: nil) }
    }

    /// XEP-0448 section 3.1.
    private static func encrypted(in sources: Element) -> FileAddress? {
        for source in sources.children where source.isNamed("encrypted", encryption) {
            guard let cipher = source["cipher"], ciphers.contains(cipher),
                let key = bytes(source, "key"), let nonce = bytes(source, "iv"), key.count == 32,
                [12, 16].contains(nonce.count), let inner = source.child("sources", Self.sharing),
                let address = plain(in: inner)
            else { continue }
            return FileAddress(url: address.url, key: nonce + key)
        }
        return nil
    }

    private static func bytes(_ element: Element, _ name: String) -> [UInt8]? {
        element.child(name, encryption).flatMap { Data(base64Encoded: $0.text.trimmed) }.map { [UInt8]($0) }
    }
}

extension String {
    /// Without white space around.
    fileprivate var trimmed: String {
        let tail = drop(while: \.isWhitespace)
        return String(tail.reversed().drop(while: \.isWhitespace).reversed())
    }
}
