import KalijText
import KalijXML

import FoundationEssentials

/// A file that a message shares: its address and its metadata.
package struct SharedFile: Equatable {
    package let address: FileAddress
    package var description: FileDescription

    package static let sharing = "urn:xmpp:sfs:0"
    package static let outOfBand = "jabber:x:oob"
    private static let urlData = "http://jabber.org/protocol/url-data"
    private static let encryption = "urn:xmpp:esfs:0"
    private static let stickers = "urn:xmpp:stickers:0"
    private static let ciphers = ["urn:xmpp:ciphers:aes-256-gcm-nopadding:0"]

    // MARK: Sending

    /// The elements of a message with a file that is not encrypted. Conversations, Monal and Gajim use the URL that is the whole text
    /// and is repeated out of band (XEP-0066); newer clients use XEP-0447.
    package var content: [Element] {
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
                "fallback", xmlns: Fallback.namespace, attributes: ["for": Self.sharing],
                children: [Element("body", xmlns: Fallback.namespace)]),
        ]
    }

    private var isPicture: Bool {
        ["image/", "video/", "audio/"].contains { description.type?.begins(with: $0) ?? false }
    }

    // MARK: Receiving

    /// The file of a message; nil if the message shares none. A link in a text is no file.
    /// - Parameter text: the text, with the fallback for the file.
    package init?(in message: Element, text: String) {
        let sharing = message.child("file-sharing", Self.sharing)
        let body = text.trimmed
        let address =
            FileAddress(encrypted: body) ?? sharing?.child("sources", Self.sharing).flatMap(Self.address)
            ?? Self.outOfBand(in: message, body)
        // A `<file-sharing/>` without a usable source and without a text is still a message.
        guard address != nil || sharing != nil && body.isEmpty else { return nil }
        (self.address, description) = (
            address ?? .unknown, sharing.map(FileDescription.init(in:)) ?? FileDescription()
        )
    }

    /// The file named by a text that was the only encrypted part: any intermediary could have added another reference to a file.
    package init?(sealed text: String, in message: Element) {
        let body = text.trimmed
        guard
            let address = FileAddress(encrypted: body)
                ?? (body.isEmpty ? nil : Self.outOfBand(in: message, body, isSealed: true))
        else { return nil }
        (self.address, description) = (address, FileDescription())
    }

    package init(_ address: FileAddress, _ description: FileDescription) {
        (self.address, self.description) = (address, description)
    }

    /// The text about a file beside its address: for a sticker, which is not shown as such, its description (XEP-0449 section 3); for
    /// an address out of band, its description, and the address itself if nothing is fetched from there.
    package static func text(in message: Element, isFetched: Bool) -> String? {
        if message.child("sticker", stickers) != nil, let sharing = message.child("file-sharing", sharing) {
            let words = FileDescription.text(in: sharing)
            if let words { return words }
        }
        guard let x = message.child("x", outOfBand) else { return nil }
        let words = [x.child("desc", outOfBand)?.text, isFetched ? nil : x.child("url", outOfBand)?.text.trimmed]
        let text = words.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "\n")
        return text.isEmpty ? nil : text
    }

    private static func address(in sources: Element) -> FileAddress? { encrypted(in: sources) ?? plain(in: sources) }

    /// The file of an `<x/>` element. The URL has to be the whole text, or the text has to be empty or a fallback: otherwise the URL
    /// is a link in a text (XEP-0066 section 4).
    private static func outOfBand(in message: Element, _ body: String, isSealed: Bool = false) -> FileAddress? {
        guard let url = message.child("x", outOfBand)?.child("url", outOfBand)?.text.trimmed, FileAddress.isWeb(url)
        else { return nil }
        let isFallback = !isSealed && [sharing, outOfBand].contains { Fallback.isDeclared(for: $0, in: message) }
        return url == body || body.isEmpty || isFallback ? FileAddress(url: url, key: nil) : nil
    }

    private static func plain(in sources: Element) -> FileAddress? {
        let targets = sources.children.compactMap { $0.isNamed("url-data", urlData) ? $0["target"] : nil }
        return targets.first(where: FileAddress.isWeb).map { FileAddress(url: $0, key: nil) }
    }

    /// Parses an encrypted source (XEP-0448 section 3.1).
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
