extension Element {
    /// Reads one document.
    ///
    /// - Parameters:
    ///   - bytes: The whole document, UTF-8.
    ///   - limits: The limits of the document.
    /// - Returns: The root, in a new tree.
    /// - Throws: ``XMLError`` if the document is not well-formed, breaks RFC 6120 section 11, or is over a limit
    ///   (`policy-violation`).
    public static func parse(_ bytes: [UInt8], limits: ParserLimits = .init()) throws -> sending Element {
        let parser = StreamParser(limits: limits, outer: 0)
        var result: Element?
        func handle(_ event: sending StreamParserEvent) throws {
            switch event {
            case .element(let element): result = element
            case .skipped(let skipped):
                throw XMLError(
                    condition: "policy-violation", text: "the document is over the limit \(skipped.limit)",
                    line: skipped.line, column: 1)
            case .opened, .closed: break
            }
        }
        try parser.feed(bytes, handle)
        try parser.finish(handle)
        guard let result else {
            throw XMLError(condition: "not-well-formed", text: "there is no element", line: 1, column: 1)
        }
        // The parser ends here, and kept nothing of the tree.
        return UncheckedSending(audited: result).take()
    }

    /// Reads one document, see ``parse(_:limits:)-([UInt8],_)``.
    ///
    /// - Throws: ``XMLError``.
    public static func parse(_ text: String, limits: ParserLimits = .init()) throws -> sending Element {
        try parse(Array(text.utf8), limits: limits)
    }
}
