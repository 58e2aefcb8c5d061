import KalijText

/// Compiles the text of a query. Errors are found here, never later.
struct QueryParser {
    /// Stands for an interpolated value in the bytes of a query.
    static let hole: UInt8 = 0

    let bytes: [UInt8]
    var place = 0
    var result = ParsedQuery()
    private var names: [UnsafeRawBufferPointer] = []
    /// Whether names get ids: names in the program's own text do, names from a stranger do not.
    private let interning: Bool

    /// Compiles a query with ``hole`` for each interpolated value.
    ///
    /// - Parameters:
    ///   - bytes: The query.
    ///   - interning: Whether the names get ids.
    /// - Returns: The program.
    /// - Throws: The error in the query.
    static func compile(_ bytes: [UInt8], interning: Bool) throws(QuerySyntaxError) -> Program {
        var parser = QueryParser(bytes: bytes, interning: interning)
        do {
            try parser.parseQuery()
        } catch {
            for name in parser.names { name.deallocate() }
            throw error
        }
        return Program(parser.result, source: QueryParser.shown(bytes), names: parser.names)
    }

    private init(bytes: [UInt8], interning: Bool) {
        self.bytes = bytes
        self.interning = interning
    }

    static func shown(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).parts(at: "\0")
            .joined(separator: "\\(...)")
    }

    // MARK: Paths

    private mutating func parseQuery() throws(QuerySyntaxError) {
        if bytes.isEmpty {
            result.isRooted = true
            result.steps = [ParsedStep(namespace: .any)]
            return
        }
        if peek == UInt8(ascii: "@"), peek(1) != UInt8(ascii: "@") {
            result.isRooted = true
            result.steps = [ParsedStep(namespace: .any)]
            return try parseExtraction()
        }
        result.isRooted = consume("/")
        try parsePath()
    }

    private mutating func parsePath() throws(QuerySyntaxError) {
        while true {
            if peek == UInt8(ascii: "."), peek(1) == UInt8(ascii: ".") {
                place += 2
                // No step precedes: "/.." and ".." both ascend from the queried element.
                if result.steps.isEmpty { result.isRooted = false }
                result.steps.append(ParsedStep(kind: .parent))
                if isAtEnd { return }
                guard consume("/") else { throw expected("\"/\" or the end after \"..\"") }
                if isAtEnd { return }
                // After "..//" the element reached is tested itself.
                let kind = consume("/") ? PathStep.Kind.itself : .children
                if peek == UInt8(ascii: "."), peek(1) == UInt8(ascii: ".") { continue }
                if try parseSegment(kind: kind) { return }
            } else if try parseSegment(kind: .children) {
                return
            }
        }
    }

    /// Reads a segment and its filters or extraction; returns whether the query has ended.
    private mutating func parseSegment(kind: PathStep.Kind) throws(QuerySyntaxError) -> Bool {
        let start = place
        let isFirst = result.steps.isEmpty
        var step = ParsedStep(kind: kind)
        let hasNamespace = try parseNamespace(&step)
        let hasName = try parseElementName(&step)
        let namesNothing = !hasNamespace && place == start
        while peek == UInt8(ascii: "<") { step.filters.append(try parseFilter()) }
        let isEmpty = place == start
        // "/@x" and "/<a=b>" accept any name of the queried element, and "a/@x" any name of the children.
        let asksItself = kind == .itself || (isFirst && result.isRooted)
        if peek == UInt8(ascii: "\\") {
            if !hasNamespace { step.namespace = .exactly(test(Array(formNamespace.utf8))) }
            if !hasName { step.name = test(Array("x".utf8)) }
        } else if namesNothing, asksItself || (isEmpty && !isFirst) {
            step.namespace = .any
        }
        if isAtEnd {
            if isEmpty { throw expected("a name, \"*\", \"{\", \"..\" or an extraction") }
            result.steps.append(step)
            return true
        }
        if peek == UInt8(ascii: "/") {
            if isEmpty { throw expected("a name, \"*\", \"{\", \"..\" or an extraction") }
            place += 1
            if isAtEnd { throw expected("a segment after \"/\"") }
            result.steps.append(step)
            return false
        }
        result.steps.append(step)
        try parseExtraction()
        return true
    }

    /// The name, `!name` or `*`, if present.
    private mutating func parseElementName(_ step: inout ParsedStep) throws(QuerySyntaxError) -> Bool {
        if consume("!") {
            step.isNegated = true
            step.name = test(try parseName("a name after \"!\""))
            return true
        }
        if consume("*") { return true }
        guard let byte = peek, isNamePart(byte) else { return false }
        step.name = test(try parseName("a name"))
        return true
    }

    /// The namespace in braces, if present.
    private mutating func parseNamespace(_ step: inout ParsedStep) throws(QuerySyntaxError) -> Bool {
        guard peek == UInt8(ascii: "{") else { return false }
        let text = try parseBraces(of: "a namespace or \"*\"")
        step.namespace = text == "*" ? .any : .exactly(test(Array(text.utf8)))
        return true
    }

    mutating func parseBraces(of what: String) throws(QuerySyntaxError) -> String {
        place += 1
        let start = place
        while let byte = peek, byte != UInt8(ascii: "}") {
            if byte == QueryParser.hole { throw expected("no interpolated value: they stand in <name=value> only") }
            place += 1
        }
        if isAtEnd { throw expected("\"}\"") }
        if place == start { throw expected(what) }
        place += 1
        return String(decoding: bytes[start..<(place - 1)], as: UTF8.self)
    }

    // MARK: Filters

    private mutating func parseFilter() throws(QuerySyntaxError) -> Filter {
        place += 1
        let attribute = try parseAttribute("the name of an attribute")
        if consume("=") { return Filter(attribute: attribute, condition: .equals(try parseValue())) }
        if consume("~") { return Filter(attribute: attribute, condition: .matches(try parseRegularExpression())) }
        throw expected("\"=\" or \"~\"")
    }

    private mutating func parseValue() throws(QuerySyntaxError) -> [ValuePart] {
        var parts: [ValuePart] = []
        var literal: [UInt8] = []
        func flush() {
            if !literal.isEmpty { parts.append(.literal(literal)) }
            literal = []
        }
        while let byte = peek, byte != UInt8(ascii: ">") {
            if byte == QueryParser.hole {
                flush()
                parts.append(.interpolation(result.interpolations))
                result.interpolations += 1
                place += 1
            } else if byte == UInt8(ascii: "%") {
                if try parseSpecifier() {
                    literal.append(byte)
                } else {
                    flush()
                    parts.append(.argument(result.arguments))
                    result.arguments += 1
                }
            } else {
                literal.append(byte)
                place += 1
            }
        }
        flush()
        if parts.isEmpty { throw expected("a value (to ask whether an attribute is there, write <name~>)") }
        guard consume(">") else { throw expected("\">\"") }
        return parts
    }

    /// Reads a `%` specifier; returns whether the specifier is an escaped percent sign.
    private mutating func parseSpecifier() throws(QuerySyntaxError) -> Bool {
        for specifier in ["%%", "%@", "%s", "%d", "%i", "%u", "%f", "%ld", "%lu", "%lld", "%llu"]
        where consume(specifier) { return specifier == "%%" }
        place += 1
        defer { place -= 1 }
        throw expected("@, s, d, i, u, f, ld, lu, lld, llu or % after \"%\"")
    }

    private mutating func parseRegularExpression() throws(QuerySyntaxError) -> RegularExpression {
        let start = place
        while let byte = peek, byte != UInt8(ascii: ">") {
            if byte == QueryParser.hole { throw expected("no interpolated value in a regular expression") }
            place += 1
        }
        if isAtEnd { throw expected("\">\"") }
        let pattern = Array(bytes[start..<place])
        place += 1
        do {
            return try RegularExpression(pattern)
        } catch {
            place = start + min(error.offset, pattern.count)
            throw expected("a regular expression: \(error.text)")
        }
    }
}

// MARK: - Extractions

extension QueryParser {
    private mutating func parseExtraction() throws(QuerySyntaxError) {
        if consume("@@") {
            result.extraction = .attributes
            return try parseEnd("the end after \"@@\", which takes no conversion")
        } else if consume("@") {
            result.extraction = .attribute
            result.attribute = try parseAttribute("the name of an attribute, or \"@\"")
        } else if consume("#") {
            result.extraction = .text
        } else if consume("$") {
            result.extraction = .name
        } else if consume("\\") {
            return try parseForm()
        } else if peek == UInt8(ascii: "|") {
            throw expected("an extraction (@name, #, $) before a conversion")
        } else {
            throw expected("\"/\", \"<\", an extraction or the end")
        }
        try parseConversion()
    }

    mutating func parseConversion() throws(QuerySyntaxError) {
        if consume("|") {
            let start = place
            while let byte = peek, isNamePart(byte) { place += 1 }
            guard let conversion = Conversion(rawValue: String(decoding: bytes[start..<place], as: UTF8.self)) else {
                place = start
                throw expected(Conversion.allCases.map(\.rawValue).joined(separator: ", "))
            }
            result.conversion = conversion
            return try parseEnd("the end after a conversion")
        }
        try parseEnd("\"|\" or the end after an extraction")
    }

    func parseEnd(_ what: String) throws(QuerySyntaxError) {
        if !isAtEnd { throw expected(what) }
    }

    private mutating func parseAttribute(_ what: String) throws(QuerySyntaxError) -> AttributeTest {
        var result = AttributeTest()
        if peek == UInt8(ascii: "{") { result.namespace = test(Array(try parseBraces(of: "a namespace").utf8)) }
        var name = try parseName(what)
        if result.namespace.isAny, name.starts(with: "xml:".utf8) {
            result.namespace = test(Array(xmlNamespace.utf8))
            name.removeFirst(4)
        }
        result.isNamespaceDeclaration = result.namespace.isAny && name == Array("xmlns".utf8)
        result.name = test(name)
        return result
    }

}

// MARK: - Bytes

extension QueryParser {
    var isAtEnd: Bool { place >= bytes.count }
    var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private func peek(_ ahead: Int) -> UInt8? {
        place + ahead < bytes.count ? bytes[place + ahead] : nil
    }

    mutating func consume(_ text: String) -> Bool {
        guard bytes[place...].starts(with: text.utf8) else { return false }
        place += text.utf8.count
        return true
    }

    private func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "\\"),
            UInt8(ascii: "<"), UInt8(ascii: "|"), UInt8(ascii: "{"), UInt8(ascii: "="), UInt8(ascii: "~"):
            false
        default: true
        }
    }

    /// An XML name, ended by one of `delimiters`, by default the characters allowed after the name of an element.
    mutating func parseName(_ what: String, until delimiters: String? = nil) throws(QuerySyntaxError) -> [UInt8] {
        let start = place
        while let byte = peek, delimiters.map({ !$0.utf8.contains(byte) }) ?? isNamePart(byte) { place += 1 }
        let name = bytes[start..<place]
        var end = start
        for scalar in String(decoding: name, as: UTF8.self).unicodeScalars {
            let isAllowed = scalar == ":" || (end == start ? isNameStart(scalar) : isNameCharacter(scalar))
            guard isAllowed else {
                place = end
                throw expected(end == start ? what : "a character of a name, \"/\", \"<\", an extraction or the end")
            }
            end += UTF8.width(scalar)
        }
        if name.isEmpty { throw expected(what) }
        return Array(name)
    }

    private mutating func test(_ name: [UInt8]) -> NameTest {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: name.count, alignment: 1)
        copy.copyBytes(from: name)
        names.append(UnsafeRawBufferPointer(copy))
        let known =
            interning
            ? NameTable.shared.intern(String(decoding: name, as: UTF8.self))
            : name.withUnsafeBytes { NameTable.shared.lookUp($0) }
        return NameTest(reference: known ?? .none, bytes: UnsafeRawBufferPointer(copy))
    }

    func expected(_ what: String) -> QuerySyntaxError {
        let column = QueryParser.shown(Array(bytes[..<min(place, bytes.count)])).count + 1
        let found = peek.map { _ in
            let next = String(decoding: bytes[place...], as: UTF8.self).first.map(String.init) ?? ""
            return next == "\0" ? ", found an interpolated value" : ", found \"\(next)\""
        }
        return QuerySyntaxError(
            query: QueryParser.shown(bytes), column: column, problem: "expected \(what)\(found ?? "")")
    }
}
