// Data form subqueries: \[{FORM_TYPE}][type][[index]][@field | &field]\

extension QueryParser {
    /// Reads the rest after the first backslash, up to the end of the query.
    mutating func parseForm() throws(QuerySyntaxError) {
        var form = FormQuery()
        result.extraction = .form
        if peek == UInt8(ascii: "{") {
            let text = try parseBraces(of: "the value of a FORM_TYPE, or \"*\"")
            form.formType = text == "*" ? nil : text
        }
        form.type = try parseFormType()
        if consume("[") { form.item = try parseIndex() }
        if consume("@") {
            form.part = .value
            form.field = try parseField()
        } else if consume("&") {
            form.part = .field
            form.field = try parseField()
        }
        guard consume("\\") else { throw expected(rest(form)) }
        result.form = form
        if form.part == .value { return try parseConversion() }
        try parseEnd("the end: in a data form subquery, only \"@field\" takes a conversion")
    }

    private mutating func parseFormType() throws(QuerySyntaxError) -> String? {
        if consume("*") { return nil }
        guard let byte = peek, !"[@&\\".utf8.contains(byte) else { return nil }
        return String(
            decoding: try parseName("a form type, \"[\", \"@\", \"&\" or \"\\\"", until: "[@&\\"), as: UTF8.self)
    }

    /// The number of an item. A number too large for any form is in order: no form has the item.
    private mutating func parseIndex() throws(QuerySyntaxError) -> Int {
        var number: Int?
        while let byte = peek, Conversions.isDigit(byte) {
            let (shifted, isOver) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, isOverAgain) = shifted.addingReportingOverflow(Int(byte - UInt8(ascii: "0")))
            number = isOver || isOverAgain ? Int.max / 10 : sum
            place += 1
        }
        guard let number else { throw expected("the number of an item, from 0") }
        guard consume("]") else { throw expected("a digit or \"]\"") }
        return number
    }

    /// The name of a field, with any character except a backslash.
    private mutating func parseField() throws(QuerySyntaxError) -> String {
        let start = place
        while let byte = peek, byte != UInt8(ascii: "\\") {
            if byte == QueryParser.hole { throw expected("no interpolated value: they stand in <name=value> only") }
            place += 1
        }
        if place == start { throw expected("the name of a field") }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private func rest(_ form: FormQuery) -> String {
        if form.part != .form { return "\"\\\" after the name of the field" }
        return form.item == nil ? "\"[\", \"@\", \"&\" or \"\\\"" : "\"@\", \"&\" or \"\\\""
    }
}
