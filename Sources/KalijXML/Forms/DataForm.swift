import KalijText

let formNamespace = "jabber:x:data"

/// A data form (XEP-0004): questions with their fields, an answer, or data as the result of a query.
///
/// A form is a value. Forms are read from an element with ``init(_:)``, built field by field, answered with
/// ``fill(_:with:)`` and ``submission()``, and written with ``element``. A form that is written and read again is
/// equal; additions of other standards (validation, layout, media) are kept.
///
/// ```swift
/// var form = try DataForm(element)
/// try form.fill("public", with: true)
/// try form.fill("features", with: ["news", "search"])
/// iq.add(try form.submission().element)
/// ```
public struct DataForm: Sendable, Hashable {
    /// The purpose of the form.
    public var type: FormType
    /// The title; nil if there is none.
    public var title: String?
    /// Instructions in natural language, a piece for each `<instructions/>`.
    public var instructions: [String]
    /// The form's own fields, in display order.
    public var fields: [Field]
    /// The fields of the items, as the header of a table; nil if the form has no table.
    public var reported: Item?
    /// The rows of a result with several items.
    public var items: [Item]
    /// Children beyond XEP-0004, such as the layout of XEP-0141.
    public var extensions: [Extension]

    /// Makes a form.
    ///
    /// - Parameters:
    ///   - type: The purpose of the form.
    ///   - formType: The value of a hidden field `FORM_TYPE`, placed before the others (XEP-0068).
    ///   - title: The title.
    ///   - instructions: Pieces of instructions.
    ///   - fields: The fields, in order.
    public init(
        _ type: FormType, formType: String? = nil, title: String? = nil, instructions: [String] = [],
        fields: [Field] = []
    ) {
        self.type = type
        self.title = title
        self.instructions = instructions
        self.fields = fields
        items = []
        extensions = []
        if let formType {
            self.fields.insert(Field(DataForm.formTypeField, .hidden, values: [formType]), at: 0)
        }
    }

    /// A row of a result, or the header of its table.
    public struct Item: Sendable, Hashable {
        /// The fields, in order.
        public var fields: [Field]
        /// Children beyond XEP-0004.
        public var extensions: [Extension]

        /// Makes a row.
        public init(fields: [Field]) {
            self.fields = fields
            extensions = []
        }

        /// The first field with this name.
        public subscript(_ name: String) -> Field? { fields.first { $0.name?.exact == name.exact } }
    }

    /// The purpose of a form (XEP-0004 section 3.1).
    public struct FormType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A form to fill in.
        public static let form = FormType(rawValue: "form")
        /// A filled form.
        public static let submit = FormType(rawValue: "submit")
        /// The refusal to submit.
        public static let cancel = FormType(rawValue: "cancel")
        /// Data, such as the result of a search.
        public static let result = FormType(rawValue: "result")
        /// The form does not name its purpose; the standard forbids that.
        public static let unspecified = FormType(rawValue: "")

        public var description: String { rawValue }
    }
}
