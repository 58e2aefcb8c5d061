extension DataForm {
    /// A field of a form: a question, an answer, or a piece of a result.
    public struct Field: Sendable, Hashable {
        /// The name of the field in its form; only a ``FieldType/fixed`` field may have none.
        public var name: String?
        /// The type as written in the form; nil if missing. ``effectiveType`` is the meaning.
        public var type: FieldType?
        /// A name for people.
        public var label: String?
        /// An explanation for people.
        public var description: String?
        /// Whether an answer needs a value for this field.
        public var isRequired: Bool
        /// The values, in order: defaults in a form to fill in, else data.
        public var values: [String]
        /// The choices of a list.
        public var options: [Option]
        /// Children beyond XEP-0004, such as the validation of XEP-0122 and the media of XEP-0221.
        public var extensions: [Extension]

        /// Makes a field.
        ///
        /// - Parameters:
        ///   - name: The name of the field in its form; nil only for ``FieldType/fixed``.
        ///   - type: The kind of value; nil for a field of a submission, where the type may be missing.
        ///   - label: A name for people.
        ///   - description: An explanation for people.
        ///   - isRequired: Whether an answer needs a value for this field.
        ///   - values: The values, in order.
        ///   - options: The choices of a list.
        public init(
            _ name: String?, _ type: FieldType? = nil, label: String? = nil, description: String? = nil,
            isRequired: Bool = false, values: [String] = [], options: [Option] = []
        ) {
            self.name = name
            self.type = type
            self.label = label
            self.description = description
            self.isRequired = isRequired
            self.values = values
            self.options = options
            extensions = []
        }

        /// A field with a typed value, see ``FormValue``.
        public init(_ name: String, _ type: FieldType? = nil, value: some FormValue) {
            self.init(name, type, values: value.formValues)
        }

        /// A piece of text between the fields.
        public static func fixed(_ text: String) -> Field { Field(nil, .fixed, values: [text]) }

        /// The first value; nil if there is none.
        public var value: String? { values.first }

        /// The value as a Swift type; nil if there is none, or no value converts. See ``FormValue``.
        public func value<Value: FormValue>(as type: Value.Type = Value.self) -> Value? { Value(formValues: values) }

        /// The type in effect: `text-single` if the form names none, or a type unknown to XEP-0004.
        public var effectiveType: FieldType { type.flatMap { $0.isKnown ? $0 : nil } ?? .textSingle }
    }

    /// A choice of a list.
    public struct Option: Sendable, Hashable {
        /// The name for people; nil if the value is the name, too.
        public var label: String?
        /// The field's value after this choice.
        public var value: String

        /// A choice.
        public init(_ value: String, label: String? = nil) {
            self.label = label
            self.value = value
        }
    }

    /// The types of fields (XEP-0004 section 3.3). Any other type is kept unchanged, and treated as `text-single`.
    public struct FieldType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Yes or no.
        public static let boolean = FieldType(rawValue: "boolean")
        /// Text to show, no question.
        public static let fixed = FieldType(rawValue: "fixed")
        /// Not shown, but sent back.
        public static let hidden = FieldType(rawValue: "hidden")
        /// Several addresses, each once.
        public static let jidMulti = FieldType(rawValue: "jid-multi")
        /// One address.
        public static let jidSingle = FieldType(rawValue: "jid-single")
        /// Any of the options.
        public static let listMulti = FieldType(rawValue: "list-multi")
        /// One of the options.
        public static let listSingle = FieldType(rawValue: "list-single")
        /// Lines of text, a value each.
        public static let textMulti = FieldType(rawValue: "text-multi")
        /// A line of hidden text, such as a password.
        public static let textPrivate = FieldType(rawValue: "text-private")
        /// A line of text; also the meaning of a missing or unknown type.
        public static let textSingle = FieldType(rawValue: "text-single")

        static let known: [FieldType] = [
            boolean, fixed, hidden, jidMulti, jidSingle, listMulti, listSingle, textMulti, textPrivate, textSingle,
        ]

        /// Whether XEP-0004 defines the type.
        public var isKnown: Bool { FieldType.known.contains(self) }
        /// Whether a field of this type may have more than one value.
        public var takesSeveralValues: Bool { [.jidMulti, .listMulti, .textMulti, .hidden].contains(self) }
        /// Whether a field of this type may have options.
        public var takesOptions: Bool { self == .listMulti || self == .listSingle }

        public var description: String { rawValue }
    }
}
