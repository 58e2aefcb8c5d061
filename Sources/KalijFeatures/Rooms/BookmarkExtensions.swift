import KalijAddress
import KalijCore
import KalijXML

/// The elements of features in bookmarks (XEP-0402 section 3, `<extensions/>`). The former lists have none.
struct BookmarkExtensions {
    let step: Step

    private static let name = "extensions"

    /// The list was read.
    /// - Parameter bookmark: the bookmark of `room`; nil if the list does not contain the room.
    /// - Returns: whether the bookmark is to be written with a change of a feature.
    func read(_ bookmark: Bookmark?, of room: JID) throws -> Bool {
        let extensions = bookmark.map { $0.element.child(Self.name)?.children ?? [] }
        var isChanged = false
        for extender in step.hooks.bookmarkExtenders
        where try extender.didReadBookmark(of: room, extensions: extensions, in: step) {
            isChanged = true
        }
        return isChanged
    }

    /// A copy of `element`, the bookmark of `room`, with the changes of all features.
    func extending(_ element: Element, of room: JID) throws -> Element {
        var extensions = element.child(Self.name)?.children ?? []
        for extender in step.hooks.bookmarkExtenders {
            try extender.extendBookmark(of: room, extensions: &extensions, in: step)
        }
        let copy = element.copy()
        guard !extensions.isEmpty || copy.child(Self.name) != nil else { return copy }
        let container = copy.child(Self.name) ?? copy.add(Element(Self.name, xmlns: Bookmark.native))
        for child in container.children { container.remove(child) }
        for child in extensions { container.add(child) }
        return copy
    }

    func written(_ room: JID) throws {
        for extender in step.hooks.bookmarkExtenders { try extender.didWriteBookmark(of: room, in: step) }
    }
}
