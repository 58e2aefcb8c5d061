import KalijText
import KalijXML

// The picture of a CAPTCHA (XEP-0158), as data that accompanies the form (XEP-0231).
extension RegistrationForm {
    /// The maximum size of a picture in bytes; XEP-0231 recommends 8 kB.
    private static let maxBytes = 65_536
    /// The maximum number of pictures.
    private static let maxPictures = 10

    /// The bytes of the picture that a field asks about (XEP-0221); nil if the field has none, or its data are missing. The picture
    /// is untrusted input.
    public func picture(of field: DataForm.Field) -> [UInt8]? {
        field.media.flatMap(\.uris).lazy.filter { $0.type.lowercased().begins(with: "image/") }
            .compactMap { pictures[$0.uri.exact] }.first
    }

    /// The maximum number of links of a field.
    private static let maxLinks = 5

    /// The media of a field in the web, such as a sound for people who do not see the picture; at most five.
    public func links(of field: DataForm.Field) -> [DataForm.Media.URI] {
        let links = field.media.lazy.flatMap(\.uris).filter { place in
            ["http://", "https://"].contains { place.uri.lowercased().begins(with: $0) }
        }
        return Array(links.prefix(Self.maxLinks))
    }

    /// The data among `elements`, by the `cid:` URI of their content id.
    static func pictures(in elements: [Element]) -> [ExactText: [UInt8]] {
        let data = elements.filter { $0.isNamed("data", "urn:xmpp:bob") }
            .prefix(maxPictures)  // characters: elements.
        return data.reduce(into: [:]) { pictures, element in
            let text = element.text
            guard let id = element["cid"], text.utf8.count <= 2 * maxBytes,
                let bytes = Base64.decode(text.filter { !$0.isWhitespace }), 1...maxBytes ~= bytes.count
            else { return }
            pictures["cid:\(id)".exact] = bytes
        }
    }
}
