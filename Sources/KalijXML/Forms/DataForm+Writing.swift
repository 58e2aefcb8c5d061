extension DataForm {
    /// The form as an element: a new tree, in the order of the standard's schema.
    public var element: Element {
        let form = Element("x", xmlns: formNamespace)
        if type != .unspecified { form["type"] = type.rawValue }
        if let title { form.add(Element("title", text: title)) }
        for instruction in instructions { form.add(Element("instructions", text: instruction)) }
        for child in extensions { form.add(child.element) }
        for field in fields { form.add(field.element) }
        // XEP-0004 section 3.4: the header stands before any item.
        if let reported { form.add(reported.element("reported")) }
        for item in items { form.add(item.element("item")) }
        return form
    }
}

extension DataForm.Item {
    fileprivate func element(_ name: String) -> Element {
        let row = Element(name)
        for field in fields { row.add(field.element) }
        for child in extensions { row.add(child.element) }
        return row
    }
}

extension DataForm.Field {
    /// The field as an element; the element takes the namespace of its form.
    fileprivate var element: Element {
        let field = Element("field")
        if let name { field["var"] = name }
        if let type { field["type"] = type.rawValue }
        if let label { field["label"] = label }
        if let description { field.add(Element("desc", text: description)) }
        if isRequired { field.add(Element("required")) }
        for value in values { field.add(Element("value", text: value)) }
        for option in options {
            let choice = Element("option", children: [Element("value", text: option.value)])
            if let label = option.label { choice["label"] = label }
            field.add(choice)
        }
        for child in extensions { field.add(child.element) }
        return field
    }
}
