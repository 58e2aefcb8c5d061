import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads forms, writes forms, asks, fills in and submits them. An input with `<` at the beginning is a form in XML; any
/// other input builds a form.
///
/// Checked: a form written and read is equal, queries agree with the form, and a form takes its own submissions.
func fuzzForms(_ input: UnsafeRawBufferPointer) throws {
    var source = ByteSource(input)
    let element: Element
    if input.first == UInt8(ascii: "<") {
        guard let parsed = try? Element.parse(Array(input)) else { return }
        element = parsed
    } else {
        element = RandomForm.element(&source)
    }
    guard let form = try? DataForm(element) else { return }
    try requireStable(form)
    try requireQueries(form, in: element)
    try requireValues(form)
    _ = form.problems().map(\.description)
    try fill(form, &source)
}

/// Writing and reading gives the same form; coding, too.
private func requireStable(_ form: DataForm) throws {
    let written = form.element
    let again = try DataForm(written)
    try require(again == form, "read again: \(again)\nbefore: \(form)")
    try require(again.element.bytes() == written.bytes(), "written again: \(again.element), before: \(written)")
    try requireRoundTrip(written)
    let parsed = try DataForm(Element.parse(written.bytes()))
    try require(parsed == form, "parsed: \(parsed)\nbefore: \(form)")
    // Coding takes as long as all the rest: not with every form.
    guard written.bytes().count % 8 == 0 else { return }
    let coded = try JSONDecoder().decode(DataForm.self, from: JSONEncoder().encode(form))
    try require(coded == form, "coded: \(coded)\nbefore: \(form)")
}

/// Subqueries give the form's values.
private func requireQueries(_ form: DataForm, in element: Element) throws {
    let around = Element("iq", xmlns: "jabber:client", children: [element])
    let read: DataForm? = around.findFirst("\\\\")
    try require(read == form, "asked: \(String(describing: read))\nread: \(form)")
    let named: DataForm? = around.findFirst("\\[0]\\")
    try require(named == (form.items.isEmpty ? nil : form), "asked with an index: \(String(describing: named))")
    for name in RandomForm.names where !name.isEmpty {
        for index in [nil, 0, 1] {
            try requireField(name, index, form, around)
        }
    }
}

private func requireField(_ name: String, _ index: Int?, _ form: DataForm, _ around: Element) throws {
    let place = index.map { "[\($0)]" } ?? ""
    let expected: DataForm.Field? =
        if let index {
            index < form.items.count ? form.items[index][name] : nil
        } else {
            form[name] ?? form.items.first?[name]
        }
    let value = around.findFirst(try Query<String>(parsing: "\\\(place)@\(name)\\"))
    try require(value == expected?.value, "\(place)@\(name): \(value ?? "-") in \(around)")
    let field = around.findFirst(try Query<DataForm.Field>(parsing: "\\\(place)&\(name)\\"))
    try require(
        field?.values == expected?.values && field?.options == expected?.options,
        "\(place)&\(name): \(String(describing: field)) in \(around)")
    let number = around.findFirst(try Query<Int>(parsing: "\\\(place)@\(name)\\|int"))
    let same = around.findFirst(try Query<QueryResult>(parsing: "\\\(place)@\(name)\\|int"))
    try require(same == number.map(QueryResult.int), "\(place)@\(name)|int: \(number ?? 0) in \(around)")
}

/// A typed value reads as written.
private func requireValues(_ form: DataForm) throws {
    for field in form.fields + form.items.flatMap(\.fields) {
        try requireValue(field, Bool.self)
        try requireValue(field, Int.self)
        try requireValue(field, UInt.self)
        try requireValue(field, Double.self)
        try requireValue(field, Date.self)
        try requireValue(field, Data.self)
        try requireValue(field, UUID.self)
        try requireValue(field, [String].self)
        var changed = field
        changed.media = field.media
        try require(changed.media == field.media, "media set: \(changed.media), before: \(field.media)")
    }
}

private func requireValue<Value: FormValue & Equatable>(_ field: DataForm.Field, _: Value.Type) throws {
    guard let value = field.value(as: Value.self) else { return }
    let again = Value(formValues: value.formValues)
    try require(again == value, "\(value) is written as \(value.formValues) and read as \(String(describing: again))")
}

/// Answers the fields at random. The form takes every possible submission, without problems.
private func fill(_ form: DataForm, _ source: inout ByteSource) throws {
    var form = form
    for _ in 0..<12 where !source.isEmpty {
        let name = source.pick(RandomForm.names + form.fields.compactMap(\.name))
        switch source.number(below: 4) {
        case 0: try? form.clear(name)
        case 1: try? form.fill(name, with: source.oneIn(2))
        case 2: try? form.fill(name, with: [source.text(), source.pick(RandomForm.values)])
        default: try? form.fill(name, with: source.pick(RandomForm.values))
        }
    }
    // Texts forbidden in XML are not written unchanged.
    try requireStable(DataForm(form.element))
    guard let submission = try? form.submission() else { return }
    try require(submission.type == .submit && submission.items.isEmpty, "submitted: \(submission)")
    try requireStable(DataForm(submission.element))
    do {
        let answered = try form.answered(by: submission)
        try require(answered.type == form.type, "answered: \(answered)")
    } catch let error as FormError {
        // For two fields with one name, an answer can only hold one.
        let names = form.fields.compactMap(\.name)
        try require(Set(names).count < names.count, "\(error): \(submission) for \(form)")
    }
}
