import KalijXML

/// The texts of one name in a stanza, such as the bodies, each in another language (RFC 6121, 5.2.3): a view that
/// changes the stanza.
///
/// ```swift
/// message.bodies["de"] = "Guten Tag"
/// let body = message.bodies.best(for: "de-AT")
/// ```
public struct LocalizedTexts {
    let stanza: Element
    let name: String

    private var elements: [Element] { stanza.children(name) }

    /// The languages in order; nil for a text without a language in a stanza without a language.
    public var languages: [String?] { elements.map { $0["xml:lang"] ?? stanza["xml:lang"] } }

    /// The text in a language, compared without regard to case; nil for the text without a language. Setting nil
    /// removes the text.
    public subscript(_ language: String?) -> String? {
        get { element(language)?.text }
        nonmutating set {
            let known = element(language)
            guard let newValue else {
                known?.remove()
                return
            }
            if let known { return known.setText(newValue) }
            let new = stanza.add(Element(name, text: newValue))
            if language?.lowercased() != stanza["xml:lang"]?.lowercased() { new["xml:lang"] = language }
        }
    }

    /// The best text for a reader of this language: `de-AT`, else `de` (RFC 4647, 3.4), else ``standard``.
    public func best(for language: String) -> String? {
        var tag = language[...]
        while !tag.isEmpty {
            if let found = element(String(tag)) { return found.text }
            guard let end = tag.lastIndex(of: "-") else { break }
            tag = tag[..<end]
            // A subtag of a single character is removed together with the subtag after it (RFC 4647, 3.4).
            if tag.dropLast().last == "-" { tag = tag.dropLast(2) }
        }
        return standard
    }

    /// The text in the language of the stanza, else the first text; nil if there is none.
    public var standard: String? { (elements.first { $0["xml:lang"] == nil } ?? elements.first)?.text }

    /// Replaces all texts by one text, in the language of the stanza; nil removes all.
    func replace(with text: String?) {
        let elements = elements
        guard let text else { return elements.forEach { $0.remove() } }
        guard let kept = elements.first else {
            stanza.add(Element(name, text: text))
            return
        }
        elements.dropFirst().forEach { $0.remove() }
        kept["xml:lang"] = nil
        kept.setText(text)
    }

    private func element(_ language: String?) -> Element? {
        elements.first { ($0["xml:lang"] ?? stanza["xml:lang"])?.lowercased() == language?.lowercased() }
    }
}
