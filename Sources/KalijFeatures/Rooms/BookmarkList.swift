import KalijAddress
import KalijHandlers
import KalijCore
import KalijStream
import KalijXML

/// The place where a server stores the list.
enum BookmarkKind: String, Codable {
    /// A node with an item for each room (XEP-0402), which the server synchronizes with the former lists.
    case native
    /// One item of a node (XEP-0048 section 3), which the server synchronizes with private storage.
    case item
    /// Private XML (XEP-0049).
    case storage

    /// - Parameter info: the features of the account.
    init(_ info: DiscoveryInfo) {
        if info.supports(Bookmark.native + "#compat") {
            self = .native
        } else {
            self = info.supports("urn:xmpp:bookmarks-conversion:0") ? .item : .storage
        }
    }

    /// The name of the node; nil in private storage.
    var node: String? {
        switch self {
        case .native: Bookmark.native
        case .item: Bookmark.former
        case .storage: nil
        }
    }
}

/// Reads and writes the list, whatever its kind.
struct BookmarkList {
    let step: Step
    let kind: BookmarkKind

    private static let privateStorage = "jabber:iq:private"
    private static let pubsub = "http://jabber.org/protocol/pubsub"
    /// The id of the item that is the whole list (XEP-0048 section 3).
    private static let item = "current"

    /// Requests the whole list.
    func requestList() throws {
        if let node = kind.node { return try OwnNode(node, in: step).requestItems(then: BookmarksResponse()) }
        let storage = Element("storage", xmlns: Bookmark.former)
        try step.send(
            .request(.get, Element("query", xmlns: Self.privateStorage, children: [storage])),
            then: BookmarksResponse(),
            within: EngineLimits.serverTimeout)
    }

    /// The rooms in a response to ``requestList()``; nil if the response has no list.
    func bookmarks(in reply: Element) -> [Bookmark]? {
        switch kind {
        case .native:
            OwnNode.items(of: Bookmark.native, in: reply)?.children("item").compactMap { item in
                item.children.first.flatMap { Bookmark($0, id: item["id"] ?? "") }
            }
        case .item, .storage: storage(in: reply)?.children("conference").compactMap { Bookmark($0, id: nil) }
        }
    }

    /// The former list in a response.
    func storage(in reply: Element) -> Element? {
        if kind == .storage { return reply.child("query", Self.privateStorage)?.child("storage", Bookmark.former) }
        guard let items = OwnNode.items(of: Bookmark.former, in: reply) else { return nil }
        return items.children("item").last?.child("storage", Bookmark.former)
            ?? Element("storage", xmlns: Bookmark.former)
    }

    /// Writes one room; in the former lists into `storage`, the list that was read just before.
    func write(_ element: Element, for room: JID, into storage: Element?) throws {
        let handler = BookmarkPublishResponse(room: room.description)
        guard kind != .native else {
            try OwnNode(Bookmark.native, in: step).publish(element, as: room.description, then: handler)
            return
        }
        try put(Self.replacing(room.description, in: storage, by: element), then: handler)
    }

    /// Removes a room from the list.
    func remove(_ room: String, from storage: Element?) throws {
        let handler = BookmarkPublishResponse(room: room)
        guard kind == .native else { return try put(Self.replacing(room, in: storage, by: nil), then: handler) }
        let item = Element("item", xmlns: Self.pubsub, attributes: ["id": room])
        let retract = Element(
            "retract", xmlns: Self.pubsub, attributes: ["node": Bookmark.native, "notify": "true"], children: [item])
        try step.send(
            .request(.set, Element("pubsub", xmlns: Self.pubsub, children: [retract])), then: handler,
            within: EngineLimits.serverTimeout)
    }

    /// Everything else is preserved, whichever client has written it.
    private static func replacing(_ room: String, in storage: Element?, by element: Element?) -> Element {
        let copy = Element("storage", xmlns: Bookmark.former)
        for child in storage?.children ?? [] {
            let isMeant =
                child.isNamed("conference", Bookmark.former) && Bookmark(child, id: nil)?.room == JID.received(room)
            if !isMeant { copy.add(child) }
        }
        if let element { copy.add(element) }
        return copy
    }

    private func put(_ storage: Element, then handler: BookmarkPublishResponse) throws {
        guard kind == .storage else {
            try OwnNode(Bookmark.former, in: step).publish(storage, as: Self.item, then: handler)
            return
        }
        try step.send(
            .request(.set, Element("query", xmlns: Self.privateStorage, children: [storage])), then: handler,
            within: EngineLimits.serverTimeout)
    }
}
