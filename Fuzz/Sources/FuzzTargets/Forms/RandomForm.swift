import KalijXML

/// An element similar to a data form, built by an input's bytes: a form's parts, in any order and number.
enum RandomForm {
    static let names = ["a", "b", "FORM_TYPE", "ä b|/@", ""]
    static let types = [
        "boolean", "fixed", "hidden", "jid-multi", "jid-single", "list-multi", "list-single", "text-multi",
        "text-private", "text-single", "other",
    ]
    static let values = [
        "1", "true", "x", "", "urn:x", " 7 ", "1.5", "a@b", "line\nline", "aGk=", "2024-01-02T03:04:05Z",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ]

    static func element(_ source: inout ByteSource) -> Element {
        let form = Element("x", xmlns: "jabber:x:data")
        if !source.oneIn(6) { form["type"] = source.pick(["form", "submit", "result", "cancel", "other"]) }
        for _ in 0..<40 where !source.isEmpty {
            switch source.number(below: 8) {
            case 0: form.add(Element("title", text: source.pick(values)))
            case 1: form.add(Element("instructions", text: source.text()))
            case 2: form.add(row("reported", &source))
            case 3: form.add(row("item", &source))
            case 4: form.add(other(&source))
            default: form.add(field(&source))
            }
        }
        return form
    }

    private static func row(_ name: String, _ source: inout ByteSource) -> Element {
        let row = Element(name)
        for _ in 0..<source.number(below: 4) { row.add(source.oneIn(8) ? other(&source) : field(&source)) }
        return row
    }

    private static func field(_ source: inout ByteSource) -> Element {
        let field = Element("field")
        if !source.oneIn(5) { field["var"] = source.pick(names) }
        if !source.oneIn(4) { field["type"] = source.pick(types) }
        if source.oneIn(6) { field["label"] = source.text() }
        for _ in 0..<source.number(below: 6) {
            switch source.number(below: 8) {
            case 0: field.add(Element("desc", text: source.text()))
            case 1: field.add(Element("required"))
            case 2, 3: field.add(option(&source))
            case 4: field.add(other(&source))
            default: field.add(Element("value", text: source.oneIn(4) ? source.text() : source.pick(values)))
            }
        }
        return field
    }

    private static func option(_ source: inout ByteSource) -> Element {
        let option = Element("option")
        if source.oneIn(2) { option["label"] = source.pick(values) }
        if !source.oneIn(8) { option.add(Element("value", text: source.pick(values))) }
        return option
    }

    /// Additions of other standards, and nonsense.
    private static func other(_ source: inout ByteSource) -> Element {
        switch source.number(below: 5) {
        case 0:
            let media = Element("media", xmlns: "urn:xmpp:media-element")
            media["width"] = source.pick(["80", "-1", "99999", source.text()])
            media["height"] = source.pick(["80", "x"])
            for _ in 0..<source.number(below: 3) {
                media.add(Element("uri", attributes: ["type": "image/png"], text: " http://\(source.byte())\n"))
            }
            return media
        case 1:
            let kind = Element(source.pick(["open", "range", "regex", "basic"]))
            return Element("validate", xmlns: "http://jabber.org/protocol/xdata-validate", children: [kind])
        case 2: return Element("a", xmlns: "", text: source.pick(values))
        case 3: return Element("b", xmlns: xmlNamespace, children: [Element("c")])
        default: return Element(source.pick(["what", "field", "value"]), xmlns: source.pick(["n", "jabber:x:data"]))
        }
    }
}
