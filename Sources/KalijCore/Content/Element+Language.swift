import KalijXML

extension Element {
    /// The child with the text for a reader whose language is unknown, among several in different languages: the child in the
    /// element's own language (RFC 6120 section 8.1.5), or else the first.
    /// - Parameters:
    ///   - name: the child's name.
    ///   - xmlns: the child's namespace; nil for the element's own.
    /// - Returns: nil if there is no such child.
    package func childInOwnLanguage(_ name: String, _ xmlns: String? = nil) -> Element? {
        let first = child(name, xmlns)
        guard let first, first["xml:lang"] != nil else { return first }
        let own = self["xml:lang"]
        return children(name, xmlns).first { $0["xml:lang"].map { $0 == own } ?? true } ?? first
    }
}
