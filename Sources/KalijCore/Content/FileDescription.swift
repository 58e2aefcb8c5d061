import KalijXML

import FoundationEssentials

/// The metadata of a file: determined by this process for an accepted file, or specified by the sender of a received one (XEP-0446).
package struct FileDescription: Equatable, Sendable {
    package var name: String?
    package var type: String?
    /// In bytes.
    package var size: Int64?
    package var sha256: [UInt8]?
    /// In pixels.
    package var width: Int64?
    package var height: Int64?

    package init(
        name: String? = nil, type: String? = nil, size: Int64? = nil, sha256: [UInt8]? = nil, width: Int64? = nil,
        height: Int64? = nil
    ) {
        (self.name, self.type, self.size, self.sha256) = (name, type, size, sha256)
        (self.width, self.height) = (width, height)
    }

    private static let namespace = "urn:xmpp:file:metadata:0"
    private static let hashes = "urn:xmpp:hashes:2"
    /// The maximum length of a name or a type, in bytes.
    private static let maxLength = 1024

    /// Parses the `<file/>` in `sharing`. Invalid parts are omitted.
    package init(in sharing: Element) {
        self.init()
        guard let file = sharing.child("file", Self.namespace) else { return }
        func text(_ name: String) -> String? {
            let text = file.child(name, Self.namespace)?.text
            return text.flatMap { $0.isEmpty || $0.utf8.count > Self.maxLength ? nil : $0 }
        }
        func number(_ name: String) -> Int64? { text(name).flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 } }
        let hash = file.children.first { $0.isNamed("hash", Self.hashes) && $0["algo"] == "sha-256" }
        let bytes = hash.flatMap { Data(base64Encoded: $0.text) }.map { [UInt8]($0) }
        (name, type, size) = (text("name"), text("media-type"), number("size"))
        (sha256, width, height) = (bytes?.count == 32 ? bytes : nil, number("width"), number("height"))
    }

    /// The description for human readers in the `<file/>` in `sharing`, which is not part of the metadata here.
    package static func text(in sharing: Element) -> String? {
        let words = sharing.child("file", namespace)?.child("desc", namespace)?.text ?? ""
        return words.isEmpty ? nil : words
    }

    /// The `<file/>` (XEP-0446).
    package var element: Element {
        let file = Element("file", xmlns: Self.namespace)
        func add(_ name: String, _ value: (some CustomStringConvertible)?) {
            if let value { file.add(Element(name, xmlns: Self.namespace, text: "\(value)")) }
        }
        add("media-type", type)
        add("name", name)
        add("size", size)
        add("width", width)
        add("height", height)
        if let sha256 {
            file.add(
                Element(
                    "hash", xmlns: Self.hashes, attributes: ["algo": "sha-256"],
                    text: Data(sha256).base64EncodedString()))
        }
        return file
    }
}
