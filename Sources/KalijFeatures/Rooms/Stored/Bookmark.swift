import KalijAddress
import KalijXML

/// A room in the list that the account's devices share: native (XEP-0402 section 3), or in the former list (XEP-0048 section 3.1).
struct Bookmark {
    /// The bare address of the room.
    let room: JID
    let autojoin: Bool
    let nick: String?
    let password: String?
    /// The `<conference/>` as it was received, with the extensions of other clients.
    let element: Element
    /// Whether the element is too long to be stored. The server's entry is followed, and never overwritten: extensions of other
    /// clients are preserved.
    let isOversized: Bool

    static let native = "urn:xmpp:bookmarks:1"
    static let former = "storage:bookmarks"
    /// The maximum length of a stored element in bytes.
    private static let maxLength = 20_000

    /// - Parameter id: the id of the native item, the room's address; nil in the former list, where the element has it.
    init?(_ element: Element, id: String?) {
        guard element.isNamed("conference", id == nil ? Self.former : Self.native),
            let room = (id ?? element["jid"]).flatMap(JID.prepared), room.isBare, room.local != nil
        else { return nil }
        self.room = room
        self.element = element
        isOversized = element.xml().utf8.count > Self.maxLength
        autojoin = ["true", "1"].contains(element["autojoin"])
        nick = element.child("nick").flatMap { nick in (try? room.with(resource: nick.text)).map { _ in nick.text } }
        password = element.child("password").map(\.text).flatMap { $0.utf8.count <= Self.maxLength ? $0 : nil }
    }

    /// The element to store: of an oversized one, what is followed.
    var stored: Element {
        guard isOversized else { return element }
        let short = Element("conference", xmlns: element.namespace)
        short["autojoin"] = autojoin ? "true" : "false"
        if element.isNamed("conference", Self.former) { short["jid"] = room.description }
        if let nick { short.add(Element("nick", xmlns: element.namespace, text: nick)) }
        return short
    }

    /// The room's element with the state that the user has chosen; extensions of other clients are preserved.
    static func element(_ room: RoomRow, isNative: Bool, over base: Element?) -> Element {
        let namespace = isNative ? native : former
        let element = Element("conference", xmlns: namespace)
        if !isNative { element["jid"] = room.jid.description }
        element["autojoin"] = room.isWanted ? "true" : "false"
        element["name"] = room.info.name ?? base?["name"]
        element.add(Element("nick", xmlns: namespace, text: room.nick))
        if let password = room.password { element.add(Element("password", xmlns: namespace, text: password)) }
        for child in base?.children ?? [] where child.name != "nick" && child.name != "password" { element.add(child) }
        return element
    }
}
