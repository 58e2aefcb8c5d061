import KalijText

extension DataForm {
    /// The rules of the standard that the form breaks; empty if the form is in order. Reading a form does not check
    /// these rules.
    public func problems() -> [FormError] {
        var problems: [FormError] = []
        if ![.form, .submit, .cancel, .result].contains(type) { problems.append(.unknownType(type.rawValue)) }
        let own = fields.filter { $0.name != DataForm.formTypeField }
        let hasTable = reported != nil || !items.isEmpty
        if !own.isEmpty, type == .cancel || hasTable { problems.append(.superfluousFields(type)) }
        if hasTable, type != .result { problems.append(.superfluousItems(type)) }
        problems += DataForm.problems(of: type, in: fields)
        if let reported { problems += DataForm.problems(of: type, in: reported.fields) }
        for (place, item) in items.enumerated() {
            problems += DataForm.problems(of: type, in: item.fields)
            for case let name? in reported?.fields.map(\.name) ?? [] where item[name] == nil {
                problems.append(.incompleteItem(place, field: name))
            }
        }
        return problems
    }

    private static func problems(of type: FormType, in fields: [Field]) -> [FormError] {
        var problems: [FormError] = []
        var names: Set<ExactText> = []
        for (place, field) in fields.enumerated() {
            guard let name = field.name else {
                if field.type != .fixed { problems.append(.namelessField(place)) }
                continue
            }
            if !names.insert(name.exact).inserted { problems.append(.duplicateField(name)) }
            // The fields of an answer or a result may leave out their types.
            if field.type == nil, type != .form { continue }
            problems += field.problemsOfOptions
            if let problem = field.problemOfValues { problems.append(problem) }
        }
        return problems
    }
}

extension DataForm.Field {
    fileprivate var problemsOfOptions: [FormError] {
        let name = name ?? ""
        guard !options.isEmpty else { return [] }
        if !effectiveType.takesOptions { return [.superfluousOptions(field: name)] }
        var (values, labels): (Set<ExactText>, Set<ExactText>) = ([], [])
        return options.compactMap { option in
            let isNew = values.insert(option.value.exact).inserted
            let isNewLabel = option.label.map { labels.insert($0.exact).inserted } ?? true
            return isNew && isNewLabel ? nil : .duplicateOption(field: name, option: option.label ?? option.value)
        }
    }

    /// The error in the values of the field; nil if there is none.
    var problemOfValues: FormError? {
        let name = name ?? ""
        // The rules of a type that XEP-0004 does not define are unknown.
        if values.count > 1, type?.isKnown != false, !effectiveType.takesSeveralValues {
            return .severalValues(field: name, count: values.count)
        }
        let given = values.filter { !$0.isEmpty }
        if effectiveType == .boolean, let value = given.first(where: { Bool(formValues: [$0]) == nil }) {
            return .notABoolean(field: name, value: value)
        }
        // A list without options: the field of a result or an answer, where options are not repeated.
        guard effectiveType.takesOptions, !options.isEmpty, !isOpen else { return nil }
        let choices = Set(options.map(\.value.exact))
        return given.first { !choices.contains($0.exact) }.map { .notAnOption(field: name, value: $0) }
    }

    /// The error in the values of the field as an answer; nil if there is none.
    var problemOfAnswer: FormError? {
        // Each line of a text is a value, so line ends alone are an empty text.
        if isRequired, values.allSatisfy({ $0.allSatisfy(\.isNewline) }) { return .missingValue(field: name ?? "") }
        return problemOfValues
    }

    /// Whether values beside the options may be given (XEP-0122 section 3.2).
    public var isOpen: Bool {
        let namespace = "http://jabber.org/protocol/xdata-validate"
        guard allowsOpenValidation else { return false }
        return extensionElements("validate", namespace).contains { validation in
            ["open", "range", "regex"].contains { validation.child($0) != nil }
        }
    }

    private var allowsOpenValidation: Bool { effectiveType.takesOptions && !extensions.isEmpty }
}
