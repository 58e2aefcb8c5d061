import KalijAddress
import KalijCore
import KalijText
import KalijXML

/// The profile that an entity has published, which is not verified: anybody can use any name.
public struct Profile: Sendable, Equatable {
    /// The bare address; of an occupant of a room, the full address.
    public let jid: JID
    /// The published nickname (XEP-0172 section 4.3); nil for none.
    public package(set) var nick: String?
    /// The nickname in a message or in a subscription request (XEP-0172 sections 4.1 and 4.2); nil for none.
    public package(set) var hint: String?
    /// The SHA-1 of the picture, in hexadecimal (XEP-0084, XEP-0153); nil without a picture.
    public package(set) var avatar: String?
    /// The path of the picture: a file with a verified PNG, JPEG, GIF or WebP of at most 256 KiB. Nil if the picture was not fetched
    /// yet (``FetchProfile``).
    public package(set) var avatarFile: String?
    /// Whether the picture is published in a node, and not only in the vCard.
    package var isByNode = false
    /// The stored vCard.
    package var card: [UInt8]?

    package init(_ jid: JID) { self.jid = jid }

    /// The vCard without the picture (XEP-0054); nil if the vCard was not fetched yet.
    public var vcard: VCard? { card.flatMap { VCard($0) } }

    /// The preferred name: the published nickname, the names of the vCard, and last the nickname in a message. Nil for none.
    public var name: String? { nick ?? vcard?.nickname ?? vcard?.fullName ?? hint }

    /// The fields for JSON, in events and in lists.
    package var fields: [EventField] {
        .present(
            EventField(.contact, .text(jid.description)), .optional(.nick, nick ?? vcard?.nickname ?? hint),
            .optional(.avatar, avatar),
            .optional(.avatarFile, avatarFile),
            vcard.flatMap { $0.isEmpty ? nil : EventField(.vcard, .lists($0.lists)) })
    }
}

/// A vCard (XEP-0054), read-only: the texts by the names of their elements.
public struct VCard: Sendable, Equatable {
    /// The texts by the names of the elements: `FN`, `EMAIL`, `TEL`. Parts of a text, such as the lines of an address, are joined by
    /// commas.
    public let texts: [String: [String]]

    static let namespace = "vcard-temp"
    /// The maximum size of a stored vCard in bytes, without its picture.
    static let maxSize = 65_536
    /// Elements without a displayable text.
    private static let silent: Set = ["PHOTO", "LOGO", "SOUND", "KEY"]

    /// The full name (`FN`); nil for none.
    public var fullName: String? { texts["FN"]?.first }
    /// The nickname (`NICKNAME`); nil for none.
    public var nickname: String? { texts["NICKNAME"]?.first }
    /// Whether the vCard has no texts.
    public var isEmpty: Bool { texts.isEmpty }

    /// Parses a `<vCard/>`.
    init(_ element: Element) {
        var texts: [String: [String]] = [:]
        for child in element.children where !Self.silent.contains(child.name) {
            let text = Self.text(of: child)
            if !text.isEmpty { texts[child.name, default: []].append(text) }
        }
        self.texts = texts
    }

    fileprivate init?(_ stored: [UInt8]) {
        guard let element = try? Element.parse(stored) else { return nil }
        self.init(element)
    }

    /// The texts of an element; empty elements such as `<HOME/>` only classify the text.
    private static func text(of element: Element) -> String {
        let parts = element.children.isEmpty ? [element.text] : element.children.map(\.text)
        return parts.map { $0.words.joined(separator: " ") }
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// The vCard in the stored form, without its picture; nil if it is too large.
    static func stored(_ element: Element) -> [UInt8]? {
        let copy = element.copy()
        for photo in copy.children("PHOTO") { copy.remove(photo) }
        let bytes = copy.bytes()
        return bytes.count <= maxSize ? bytes : nil
    }

    /// The texts for JSON, in the order of the names.
    var lists: [EventValue.List] { texts.sorted { $0.key < $1.key }.map { .init(name: $0.key, texts: $0.value) } }
}
