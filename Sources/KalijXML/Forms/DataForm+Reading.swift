extension DataForm {
    /// Reads a form.
    ///
    /// - Throws: ``FormError/notAForm(_:)`` if the element is no `<x xmlns='jabber:x:data'/>`. Errors inside are found
    ///   by ``problems()``; parts without a meaning, such as an option without a value, are left out.
    public init(_ element: Element) throws(FormError) {
        guard element.isNamed("x", formNamespace) else { throw .notAForm(element.name) }
        self.init(reading: element)
    }

    /// Reads an element of any name; the form's fields are in the element's own namespace.
    init(reading element: Element) {
        self.init(FormType(rawValue: element["type"] ?? ""))
        for child in element.children {
            guard child.isPart(of: element) else {
                extensions.append(Extension(child))
                continue
            }
            switch child.name {
            case "title": title = title ?? child.text
            case "instructions": instructions.append(child.text)
            case "field": fields.append(Field(reading: child))
            case "reported": reported = reported ?? Item(reading: child)
            case "item": items.append(Item(reading: child))
            default: extensions.append(Extension(child))
            }
        }
    }
}

extension DataForm.Item {
    init(reading element: Element) {
        self.init(fields: [])
        for child in element.children {
            if child.isPart(of: element), child.isNamed("field") {
                fields.append(DataForm.Field(reading: child))
            } else {
                extensions.append(DataForm.Extension(child))
            }
        }
    }
}

extension DataForm.Field {
    init(reading element: Element) {
        self.init(element["var"], element["type"].map(DataForm.FieldType.init(rawValue:)), label: element["label"])
        for child in element.children {
            guard child.isPart(of: element) else {
                extensions.append(DataForm.Extension(child))
                continue
            }
            switch child.name {
            case "desc": description = description ?? child.text
            case "required": isRequired = true
            case "value": values.append(child.text)
            case "option":
                if let value = child.child("value") {
                    options.append(DataForm.Option(value.text, label: child["label"]))
                }
            default: extensions.append(DataForm.Extension(child))
            }
        }
    }
}

extension Element {
    /// Whether the element is in its parent's namespace.
    fileprivate func isPart(of parent: Element) -> Bool {
        let (own, other) = (tree.namespace(index), tree.namespace(parent.index))
        return own == other || sameBytes(tree.bytes(own), tree.bytes(other))
    }
}
