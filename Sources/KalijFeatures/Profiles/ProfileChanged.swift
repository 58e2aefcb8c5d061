import KalijCore
import KalijText

extension EventKey {
    /// The nickname that a person has chosen.
    public static let nick = EventKey(
        "nick", "the nickname that the person has chosen (XEP-0172); in a room, the nickname there")
    /// The SHA-1 of a picture.
    public static let avatar = EventKey(
        "avatar", "the SHA-1 of the person's picture, in hexadecimal (XEP-0084, XEP-0153)")
    /// The path of a picture.
    public static let avatarFile = EventKey(
        "avatar_file", "the path of the person's picture, if the picture was fetched")
    /// The texts of a vCard.
    public static let vcard = EventKey("vcard", "the texts of the vCard, as {element: [text, ...]} (XEP-0054)")
}

/// The profile of an entity has changed.
public struct ProfileChanged: EventContent {
    public static let name = "profile"
    public static let meaning =
        "A person, or the account on whatever client, has another nickname, picture or vCard; or the picture was fetched."
    public static let keys: [EventKey] = [.contact, .nick, .avatar, .avatarFile, .vcard]
    /// The present profile.
    public let profile: Profile
    public var fields: [EventField] { profile.fields }
    public var changed: DirectoryChange.Part? { .init(.contact, profile.jid.description) }
    public var line: PrintedText? {
        var line: PrintedText = "\(profile.jid)"
        if let name = profile.name { line += " is called \"\(name)\"" }
        return line + (profile.avatar == nil ? ", without a picture" : ", with a picture")
    }
    public var isDetail: Bool { true }

    package init(_ profile: Profile) { self.profile = profile }
}
