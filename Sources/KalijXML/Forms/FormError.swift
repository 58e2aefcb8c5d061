/// An error in a form, or in the values for a form. Fields are named by their `var`.
public enum FormError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The element, with this name, is no `<x xmlns='jabber:x:data'/>`.
    case notAForm(String)
    /// Only a form of type `form` is filled in and submitted.
    case notToBeFilled(DataForm.FormType)
    /// Only a form of type `submit` answers a form.
    case notASubmission(DataForm.FormType)
    /// The form has no such field, or the field is only shown (`fixed`).
    case noSuchField(String)
    /// A required field has no value.
    case missingValue(field: String)
    /// A field for one value has several.
    case severalValues(field: String, count: Int)
    /// The value is none of the options.
    case notAnOption(field: String, value: String)
    /// The value of a boolean field is none of `true`, `false`, `1` and `0`.
    case notABoolean(field: String, value: String)
    /// Two fields of a form, or of a row, have this name.
    case duplicateField(String)
    /// A field has no name and is not `fixed`; the number is the field's place in the form, from 0.
    case namelessField(Int)
    /// Two options of a field have the same value or the same label.
    case duplicateOption(field: String, option: String)
    /// A field other than a list has options.
    case superfluousOptions(field: String)
    /// The row at this place, from 0, lacks a field of the header.
    case incompleteItem(Int, field: String)
    /// Fields where the standard permits none: beside rows, or in a cancellation.
    case superfluousFields(DataForm.FormType)
    /// Rows in a form other than a result.
    case superfluousItems(DataForm.FormType)
    /// The form's type is none of `form`, `submit`, `cancel` and `result`.
    case unknownType(String)

    public var description: String {
        switch self {
        case .notAForm(let name): "<\(name)/> is no data form"
        case .notToBeFilled(let type): "a form of type \"\(type)\" is not to be filled in"
        case .notASubmission(let type): "a form of type \"\(type)\" is no submission"
        case .noSuchField(let name): "the form has no field \"\(name)\" to fill in"
        case .missingValue(let field): "the field \"\(field)\" is required and has no value"
        case .severalValues(let field, let count): "the field \"\(field)\" takes one value, not \(count)"
        case .notAnOption(let field, let value): "the field \"\(field)\" has no option \"\(value)\""
        case .notABoolean(let field, let value): "the field \"\(field)\" takes true or false, not \"\(value)\""
        case .duplicateField(let name): "there are two fields \"\(name)\""
        case .namelessField(let place): "the field at place \(place) has no name"
        case .duplicateOption(let field, let option): "the field \"\(field)\" has two options \"\(option)\""
        case .superfluousOptions(let field): "the field \"\(field)\" is no list and has options"
        case .incompleteItem(let place, let field): "item \(place) has no field \"\(field)\""
        case .superfluousFields(let type): "a form of type \"\(type)\" has fields where none may be"
        case .superfluousItems(let type): "a form of type \"\(type)\" has items"
        case .unknownType(let type): "\"\(type)\" is no type of form"
        }
    }
}
