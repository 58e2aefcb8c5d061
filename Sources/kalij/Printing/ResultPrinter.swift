import KalijText
import KalijXML

import FoundationEssentials

/// Prints the results of queries, one per line: unchanged for another program, sanitized for a terminal.
struct ResultPrinter {
    private let json: Bool
    private let isForPeople: Bool
    private let encoder = JSONLine.encoder()
    private(set) var isEmpty = true

    init(json: Bool, isForPeople: Bool) {
        self.json = json
        self.isForPeople = isForPeople
    }

    /// Prints results; all bytes are written when this function returns.
    mutating func print(_ results: [QueryResult]) throws {
        guard !results.isEmpty else { return }
        isEmpty = false
        var text = ""
        for result in results { text += try line(result).description + "\n" }
        try Output.results(PrintedText(asIs: text))
    }

    func line(_ result: QueryResult) throws -> PrintedText {
        switch result {
        case .element(let element): try string(element.xml()) { PrintedText(xml: $0) }
        case .text(let text): try string(text)
        case .date(let date): try string(DateTime.text(date))
        case .bytes(let bytes): try string(Data(bytes).base64EncodedString())
        case .uuid(let uuid): try string(uuid.uuidString.lowercased())
        case .attributes(let attributes): try encoded(attributes)
        case .form(let form): try encoded(FormRecord(form))
        case .field(let field): try encoded(FieldRecord(field))
        case .bool(let value): value ? "true" : "false"
        case .int(let value): "\(value)"
        case .uint(let value): "\(value)"
        case .double(let value): try encoded(value)
        }
    }

    private func string(
        _ text: String, cleaning clean: (String) -> PrintedText = { "\($0)" }
    ) throws -> PrintedText {
        if json { return try encoded(text) }
        return isForPeople ? clean(text) : PrintedText(asIs: text)
    }

    private func encoded(_ value: some Encodable) throws -> PrintedText {
        PrintedText(json: String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

/// A data form in JSON. All keys are present; missing parts of the form are null.
struct FormRecord: Encodable {
    private let form: DataForm

    init(_ form: DataForm) { self.form = form }

    private enum Key: String, CodingKey {
        case type, title, instructions, fields, items
        case formType = "form_type"
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(form.type == .unspecified ? nil : form.type.rawValue, forKey: .type)
        try object.encode(form[DataForm.formTypeField]?.value, forKey: .formType)
        try object.encode(form.title, forKey: .title)
        try object.encode(form.instructions, forKey: .instructions)
        try object.encode(form.fields.map(FieldRecord.init), forKey: .fields)
        try object.encode(form.items.map { form.describedFields(of: $0).map(FieldRecord.init) }, forKey: .items)
    }
}

/// A field of a data form in JSON. All keys are present; missing parts of the field are null.
struct FieldRecord: Encodable {
    private let field: DataForm.Field

    init(_ field: DataForm.Field) { self.field = field }

    private enum Key: CodingKey {
        case name, type, label, required, description, values, options, value
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(field.name, forKey: .name)
        try object.encode(field.type?.rawValue, forKey: .type)
        try object.encode(field.label, forKey: .label)
        try object.encode(field.isRequired, forKey: .required)
        try object.encode(field.description, forKey: .description)
        try object.encode(field.values, forKey: .values)
        var options = object.nestedUnkeyedContainer(forKey: .options)
        for option in field.options {
            var object = options.nestedContainer(keyedBy: Key.self)
            try object.encode(option.value, forKey: .value)
            try object.encode(option.label, forKey: .label)
        }
    }
}
