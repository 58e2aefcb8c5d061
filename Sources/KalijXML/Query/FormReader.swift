/// Answers a data form subquery on the element at the end of a query's path, without making a ``DataForm``.
struct FormReader {
    let tree: TreeView
    let form: UInt32

    /// Calls `visit` with the result of the subquery, if there is any: the bytes of a value, nothing for a form or a field.
    /// Returns whether to continue.
    func visit(_ query: FormQuery, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        guard isSelected(by: query) else { return true }
        if query.part == .form { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard let place = field(query) else { return true }
        if query.part == .field { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard let value = first("value", in: place.field) else { return true }
        return tree.withText(value, body)
    }

    /// The place of the field named by the subquery, and its row.
    func field(_ query: FormQuery) -> (field: UInt32, item: UInt32?)? {
        if let number = query.item {
            guard let item = item(number) else { return nil }
            return field(query.field, in: item).map { ($0, item) }
        }
        if let own = field(query.field, in: form) { return (own, nil) }
        guard let item = item(0) else { return nil }
        return field(query.field, in: item).map { ($0, item) }
    }

    private func isSelected(by query: FormQuery) -> Bool {
        if let type = query.type, !isEqual(attribute("type", of: form), type) { return false }
        if let formType = query.formType {
            guard let field = field(DataForm.formTypeField, in: form), let value = first("value", in: field),
                tree.withText(value, { isEqual($0, formType) })
            else { return false }
        }
        if let number = query.item { return item(number) != nil }
        return true
    }

    private func field(_ name: String, in parent: UInt32) -> UInt32? {
        first("field", in: parent) { isEqual(attribute("var", of: $0), name) }
    }

    private func item(_ number: Int) -> UInt32? {
        var left = number
        return first("item", in: form) { _ in
            defer { left -= 1 }
            return left == 0
        }
    }

    private func first(_ name: String, in parent: UInt32, where isWanted: (UInt32) -> Bool = { _ in true }) -> UInt32? {
        let namespace = tree.bytes(tree.namespace(form))
        return withBytes(of: name) { name in
            var child = tree.element(from: tree.nodes[Int(parent)].first)
            while child != 0 {
                if tree.isName(tree.nodes[Int(child)].name, name),
                    sameBytes(tree.bytes(tree.namespace(child)), namespace), isWanted(child)
                {
                    return child
                }
                child = tree.element(from: tree.nodes[Int(child)].next)
            }
            return nil
        }
    }

    private func attribute(_ name: String, of index: UInt32) -> UnsafeRawBufferPointer? {
        let place = withBytes(of: name) { tree.findAttribute(index, $0, nil) }
        return place.map { tree.value(tree.attributes[$0]) }
    }

    private func isEqual(_ bytes: UnsafeRawBufferPointer?, _ text: String) -> Bool {
        guard let bytes else { return false }
        return withBytes(of: text) { sameBytes($0, bytes) }
    }
}
