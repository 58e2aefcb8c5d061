import KalijText

extension DataForm {
    /// The name of the field with the kind of the form (XEP-0068).
    public static let formTypeField = "FORM_TYPE"

    /// The form's own first field with this name; nil if there is none.
    public subscript(_ name: String) -> Field? { fields.first { $0.name?.exact == name.exact } }

    /// The kind of the form: the value of the field `FORM_TYPE`.
    ///
    /// XEP-0068 section 4.3 requires this field to be hidden; a field of another type has no meaning. In a submission the type
    /// may be missing. (A query's `\{...\}` matches the field, whatever its type.)
    public var formType: String? {
        guard let field = self[DataForm.formTypeField] else { return nil }
        let isHidden = field.type == .hidden || (field.type == nil && type == .submit)
        return isHidden ? field.value : nil
    }

    /// The value of the form's own field as a Swift type, see ``FormValue``; nil if there is no such field or value.
    public func value<Value: FormValue>(_ name: String, as type: Value.Type = Value.self) -> Value? {
        self[name]?.value(as: type)
    }
}
