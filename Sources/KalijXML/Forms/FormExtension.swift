extension DataForm {
    /// A child element of a form or field that another standard defines, kept as it is.
    public struct Extension: Sendable, Hashable {
        /// The canonical XML, with the namespace in effect.
        public let xml: String

        /// Keeps an element; later changes of it do not count. One without a namespace stays so, it does not become a
        /// part of the form.
        public init(_ element: Element) { xml = element.xml() }

        /// A new tree of the element.
        public var element: Element {
            // What was written can be read.
            (try? Element.parse(written: xml)) ?? Element("_", xmlns: "")
        }
    }
}

extension DataForm.Field {
    /// The children with a name and a namespace that other standards put into the field.
    func extensionElements(_ name: String, _ xmlns: String) -> [Element] {
        // What cannot be one of them is not parsed.
        extensions.filter { $0.xml.hasPrefix("<" + name) }.map(\.element).filter { $0.isNamed(name, xmlns) }
    }
}
