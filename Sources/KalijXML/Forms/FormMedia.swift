extension DataForm {
    /// An image, a sound or a video that belongs to a field (XEP-0221), such as the picture of a riddle for humans.
    ///
    /// It comes from a stranger: show it with care (XEP-0221 section 3).
    public struct Media: Sendable, Hashable {
        /// Where it can be had, in several formats or at several places.
        public var uris: [URI]
        /// The width in pixels in which it should be shown.
        public var width: UInt16?
        /// The height in pixels in which it should be shown.
        public var height: UInt16?

        /// A medium of one's own.
        public init(uris: [URI], width: UInt16? = nil, height: UInt16? = nil) {
            self.uris = uris
            self.width = width
            self.height = height
        }

        /// One place.
        public struct URI: Sendable, Hashable {
            /// The media type, such as `image/jpeg` or `audio/ogg; codecs=speex`.
            public var type: String
            /// The address: of HTTP, or `cid:` of data sent along (XEP-0231).
            public var uri: String

            /// A place.
            public init(_ uri: String, type: String) {
                self.uri = uri
                self.type = type
            }
        }

        static let namespace = "urn:xmpp:media-element"

        init(_ element: Element) {
            uris = element.children("uri").map { URI(trimmed($0.text), type: $0["type"] ?? "") }
            width = element["width"].flatMap { UInt16($0) }
            height = element["height"].flatMap { UInt16($0) }
        }

        var element: Element {
            let media = Element("media", xmlns: Media.namespace)
            if let width { media["width"] = String(width) }
            if let height { media["height"] = String(height) }
            for uri in uris { media.add(Element("uri", attributes: ["type": uri.type], text: uri.uri)) }
            return media
        }
    }
}

extension DataForm.Field {
    /// The field's media. Setting it replaces them; what is read is written again as it came.
    public var media: [DataForm.Media] {
        get { extensionElements("media", DataForm.Media.namespace).map(DataForm.Media.init) }
        set {
            extensions.removeAll { $0.xml.hasPrefix("<media") && $0.element.isNamed("media", DataForm.Media.namespace) }
            extensions += newValue.map { DataForm.Extension($0.element) }
        }
    }
}

/// Without the white space around it, which is there for readers of XML.
private func trimmed(_ text: String) -> String {
    withBytes(of: text) { String(decoding: Conversions.trimmed($0), as: UTF8.self) }
}
