extension DataForm: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .form }
    public static func value(of match: QueryMatch) -> DataForm? { DataForm(reading: match.element) }
}

/// A field as a whole. A field of a row takes missing type and label from the form's header.
extension DataForm.Field: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .field }

    public static func value(of match: QueryMatch) -> DataForm.Field? {
        guard let query = match.program.form,
            let place = FormReader(tree: match.tree.view, form: match.index).field(query)
        else { return nil }
        let field = DataForm.Field(reading: Element(tree: match.tree, index: place.field))
        if place.item == nil { return field }
        return match.element.child("reported").map { field.described(by: DataForm.Item(reading: $0)) } ?? field
    }
}

extension DataForm {
    /// The fields of a row with the types and the labels of the header (XEP-0004 section 3.4).
    public func describedFields(of item: Item) -> [Field] {
        guard let reported else { return item.fields }
        return item.fields.map { $0.described(by: reported) }
    }
}

extension DataForm.Field {
    /// The field of a row with the type and the label of the header (XEP-0004 section 3.4).
    func described(by header: DataForm.Item) -> DataForm.Field {
        guard let name, let column = header[name] else { return self }
        var field = self
        field.type = type ?? column.type
        field.label = label ?? column.label
        return field
    }
}
