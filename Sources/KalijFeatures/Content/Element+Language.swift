import KalijXML

extension Element {
    /// The child with the text for a reader of whom no language is known, among several in different languages: the child in the element's
    /// own language (RFC 6120 section 8.1.5), or else the first.
    /// - Parameters:
    ///   - name: the child's name.
    ///   - xmlns: the child's namespace; nil for the element's own.
    /// - Returns: nil if there is no such child.
    func childInOwnLanguage(_ name: String, _ xmlns: String? = nil) -> Element? {
        guard let first = child(name, xmlns) else { return nil }
        let own = self["xml:lang"]
        func isOwn(_ child: Element) -> Bool { child["xml:lang"].map { $0 == own } ?? true }
        return isOwn(first) ? first : children(name, xmlns).first(where: isOwn) ?? first
    }
}
