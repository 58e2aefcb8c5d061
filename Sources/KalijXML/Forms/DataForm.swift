let formNamespace = "jabber:x:data"

/// A data form (XEP-0004): questions with their fields, an answer to them, or data as the result of a query.
///
/// A form is a value. It is read from an element with ``init(_:)``, built field by field, answered with
/// ``fill(_:with:)`` and ``submission()``, and written with ``element``. Reading what was written gives an equal form;
/// what other standards put into a form (validation, layout, media) is kept.
///
/// ```swift
/// var form = try DataForm(element)
/// try form.fill("public", with: true)
/// try form.fill("features", with: ["news", "search"])
/// iq.add(try form.submission().element)
/// ```
public struct DataForm: Sendable, Hashable {
    /// What the form is for.
    public var type: FormType
    /// The title; nil if there is none.
    public var title: String?
    /// Instructions in natural language, a piece for each `<instructions/>`.
    public var instructions: [String]
    /// The form's own fields, in the order in which they are to be shown.
    public var fields: [Field]
    /// What the fields of the items are, as the header of a table; nil if the form has none.
    public var reported: Item?
    /// The rows of a result with several items.
    public var items: [Item]
    /// Children that XEP-0004 does not know, such as the layout of XEP-0141.
    public var extensions: [Extension]

    /// A form of one's own.
    ///
    /// - Parameters:
    ///   - type: What it is for.
    ///   - formType: The value of a hidden field `FORM_TYPE` that is put before the others (XEP-0068).
    ///   - title: The title.
    ///   - instructions: Pieces of instructions.
    ///   - fields: Its fields, in order.
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
        /// Children that XEP-0004 does not know.
        public var extensions: [Extension]

        /// A row of these fields.
        public init(fields: [Field]) {
            self.fields = fields
            extensions = []
        }

        /// The first field with this name.
        public subscript(_ name: String) -> Field? { fields.first { $0.name == name } }
    }

    /// What a form is for (XEP-0004 section 3.1).
    public struct FormType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A form to fill in.
        public static let form = FormType(rawValue: "form")
        /// A form that was filled in.
        public static let submit = FormType(rawValue: "submit")
        /// The answer that there will be no submission.
        public static let cancel = FormType(rawValue: "cancel")
        /// Data, such as what a search found.
        public static let result = FormType(rawValue: "result")
        /// The form does not say what it is for, which the standard forbids.
        public static let unspecified = FormType(rawValue: "")

        public var description: String { rawValue }
    }
}
