import KalijText

// Filling in a form and submitting the answer: the work of the form-submitting entity of XEP-0004.

extension DataForm {
    /// Answers a field.
    ///
    /// The value is written as the field's type requires: the lines of a text are values of a `text-multi` field, the
    /// choices of a `list-multi` field stand in the order of the options, a JID stands once in a `jid-multi` field.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: The answer, see ``FormValue``.
    /// - Throws: ``FormError`` if the form is not to be filled in, has no such field, or the field does not take the
    ///   value.
    public mutating func fill(_ name: String, with value: some FormValue) throws(FormError) {
        let place = try placeToFill(name)
        var field = fields[place]
        field.values = field.arranged(value.formValues)
        if let problem = field.problemOfValues { throw problem }
        fields[place] = field
    }

    /// Takes the answer of a field back: an empty value is submitted, or for `list-multi` and `jid-multi` none.
    ///
    /// XEP-0004 section 3.6: a field left out of a submission keeps its value, so an empty value has to be sent.
    ///
    /// - Throws: ``FormError`` if the form is not to be filled in, or has no such field.
    public mutating func clear(_ name: String) throws(FormError) {
        let place = try placeToFill(name)
        fields[place].values = fields[place].effectiveType.isChoiceOfMany ? [] : [""]
    }

    private func placeToFill(_ name: String) throws(FormError) -> Int {
        guard type == .form else { throw .notToBeFilled(type) }
        guard let place = fields.firstIndex(where: { $0.name?.exact == name.exact && $0.effectiveType != .fixed })
        else {
            throw .noSuchField(name)
        }
        return place
    }

    /// The answer to this form: a form of type `submit` with the names and values of the fields that have values.
    ///
    /// Fields without a value are left out, except `list-multi` and `jid-multi`: an empty value there indicates that nothing was
    /// chosen. Hidden fields are returned unchanged, `FORM_TYPE` among them.
    ///
    /// - Throws: ``FormError`` if a required field has no value, a value is none of the options, or the form is not to
    ///   be filled in.
    public func submission() throws(FormError) -> DataForm {
        guard type == .form else { throw .notToBeFilled(type) }
        var answer = DataForm(.submit)
        for field in fields where field.effectiveType != .fixed {
            guard let name = field.name else { continue }
            if let problem = field.problemOfAnswer { throw problem }
            guard !field.values.isEmpty || field.effectiveType.isChoiceOfMany else { continue }
            answer.fields.append(Field(name, field.type, values: field.arranged(field.values)))
        }
        return answer
    }

    /// The refusal to submit. A cancellation holds no fields.
    public static var cancellation: DataForm { DataForm(.cancel) }

    /// This form with the values of an answer, for the side that sent the form.
    ///
    /// Fields missing in the answer keep their values (XEP-0004 section 3.5); fields missing in the form are ignored.
    ///
    /// - Throws: ``FormError`` if the form is not a submission, lacks a required field, or a field does not take its
    ///   value.
    public func answered(by submission: DataForm) throws(FormError) -> DataForm {
        guard submission.type == .submit else { throw .notASubmission(submission.type) }
        var form = self
        for (place, field) in fields.enumerated() where field.effectiveType != .fixed {
            guard let name = field.name, name != DataForm.formTypeField else { continue }
            guard let answer = submission[name] else {
                if field.isRequired { throw .missingValue(field: name) }
                continue
            }
            form.fields[place].values = field.arranged(answer.values)
            if let problem = form.fields[place].problemOfAnswer { throw problem }
        }
        return form
    }
}

extension DataForm.FieldType {
    /// Whether no value at all is an answer.
    fileprivate var isChoiceOfMany: Bool { self == .listMulti || self == .jidMulti }
}

extension DataForm.Field {
    /// The values, arranged as the field's type requires.
    fileprivate func arranged(_ values: [String]) -> [String] {
        switch effectiveType {
        case .textMulti:
            // characters: CR LF is a single end of a line.
            return values.flatMap { $0.split(omittingEmptySubsequences: false, whereSeparator: isLineEnd) }
                .map(String.init)
        case .jidMulti:
            var known: Set<ExactText> = []
            return values.filter { known.insert($0.exact).inserted }
        case .listMulti:
            let order = options.map(\.value.exact)
            let chosen = Set(values.map(\.exact))
            // A value outside the options is reported by the checks, or XEP-0122 allows it.
            return order.filter(chosen.contains).map(\.text) + values.filter { !order.contains($0.exact) }
        default: return values
        }
    }

    private func isLineEnd(_ character: Character) -> Bool {
        character == "\n" || character == "\r\n" || character == "\r"
    }
}
