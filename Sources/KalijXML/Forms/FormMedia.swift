import KalijText

extension DataForm {
    /// An image, a sound or a video of a field (XEP-0221), such as the picture of a riddle for humans.
    ///
    /// Media are from strangers: show them with care (XEP-0221 section 3).
    public struct Media: Sendable, Hashable {
        /// The places to load the medium from, in several formats.
        public var uris: [URI]
        /// The display width in pixels.
        public var width: UInt16?
        /// The display height in pixels.
        public var height: UInt16?

        /// Makes a medium.
        public init(uris: [URI], width: UInt16? = nil, height: UInt16? = nil) {
            self.uris = uris
            self.width = width
            self.height = height
        }

        /// A place to load a medium from.
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
    /// The field's media. Setting the media replaces all of them; media that were read are written again unchanged.
    public var media: [DataForm.Media] {
        get { extensionElements("media", DataForm.Media.namespace).map(DataForm.Media.init) }
        set {
            extensions.removeAll {
                $0.xml.begins(with: "<media") && $0.element.isNamed("media", DataForm.Media.namespace)
            }
            extensions += newValue.map { DataForm.Extension($0.element) }
        }
    }
}

/// Without the surrounding white space of indented XML.
private func trimmed(_ text: String) -> String {
    withBytes(of: text) { String(decoding: Conversions.trimmed($0), as: UTF8.self) }
}
