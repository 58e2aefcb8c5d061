import KalijText

extension DataForm {
    /// A child element of a form or field from another standard, kept unchanged.
    public struct Extension: Sendable, Hashable {
        /// The canonical XML, with the namespace in effect.
        public let xml: String

        /// Keeps an element; later changes of the element do not count. An element without a namespace keeps having
        /// none: it does not join the form's namespace.
        public init(_ element: Element) { xml = element.xml() }

        /// A new tree of the element.
        public var element: Element {
            // The text was written by `xml()`, so parsing succeeds.
            (try? Element.parse(written: xml)) ?? Element("_", xmlns: "")
        }
    }
}

extension DataForm.Field {
    /// The children of the field with a name and a namespace of another standard.
    func extensionElements(_ name: String, _ xmlns: String) -> [Element] {
        // An extension with another name is not parsed.
        extensions.filter { $0.xml.begins(with: "<" + name) }.map(\.element).filter { $0.isNamed(name, xmlns) }
    }
}
