import KalijCore
import KalijXML

/// Publishes the account's own nickname (XEP-0172), picture (XEP-0084) and vCard (XEP-0054). Values that are nil are not changed.
///
/// The nickname is also written into the vCard. Everybody can read a vCard; the nodes are for contacts, unless they are configured
/// otherwise. In the vCard only the specified elements are changed.
public struct SetProfile: Intent {
    public static let name = "profile"
    /// The nickname; empty to remove it.
    public let nick: String?
    /// The picture in base64: PNG, JPEG, GIF or WebP, at most 256 KiB; empty to remove it.
    public let avatar: String?
    /// Texts of the vCard by the names of the elements; an empty text removes the element. ``elements`` lists the names.
    public let vcard: [String: String]?

    private enum CodingKeys: String, CodingKey {
        case nick = "name"
        case avatar, vcard
    }

    /// The elements of a vCard that can be set: those with a text and without parts.
    public static let elements = ["FN", "NICKNAME", "BDAY", "TITLE", "ROLE", "DESC", "URL", "JABBERID"]
    /// The maximum size of a picture in bytes.
    public static let largestAvatar = 262_144
    /// The maximum length of a name in bytes.
    static let maxNameLength = 1023
    /// The maximum length of a text of the vCard in bytes.
    private static let maxTextLength = 4096

    /// - Parameters:
    ///   - name: the nickname; empty to remove it; nil for no change.
    ///   - avatar: the bytes of a picture: PNG, JPEG, GIF or WebP, at most 256 KiB; empty to remove it; nil for no change.
    ///   - vcard: texts of the vCard by the names of the elements, which are among ``elements``; an empty text removes the element.
    public init(name: String? = nil, avatar: [UInt8]? = nil, vcard: [String: String]? = nil) {
        (nick, self.vcard) = (name, vcard)
        self.avatar = avatar.map { Avatar.base64($0) }
    }

    public func check() throws {
        guard nick != nil || avatar != nil || vcard?.isEmpty == false else {
            throw IntentFailure("nothing of the profile is given")
        }
        try Self.check(nick ?? "", longest: Self.maxNameLength)
        for (name, text) in vcard ?? [:] {
            guard Self.elements.contains(name) else {
                throw IntentFailure("\(name) of the vCard cannot be set, only \(Self.elements.joined(separator: ", "))")
            }
            try Self.check(text, longest: Self.maxTextLength)
        }
        _ = try picture
    }

    private static func check(_ text: String, longest: Int) throws {
        guard text.utf8.count <= longest else { throw IntentFailure("a name or text may have \(longest) bytes") }
        guard text.unicodeScalars.allSatisfy(\.isXML) else {
            throw IntentFailure("a name or text has characters that XML does not allow")
        }
    }

    private var picture: Avatar? {
        get throws { try avatar.flatMap { $0.isEmpty ? nil : try Avatar(base64: $0) } }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        if let picture = try picture {
            let limit = try OutboundQueue(database: step.database, account: step.account.id).maxStanzaSize()
            // The stanza around the picture has fewer than 1,000 bytes, and base64 encodes three bytes as four.
            let most = max(0, limit - 1000) / 4 * 3
            guard picture.bytes.count <= most else {
                throw IntentFailure(
                    "the server takes pictures of at most \(most) bytes, this one has \(picture.bytes.count)")
            }
        }
        return try ProfileChanges(step: step).add(self, intent: id)
    }
}
