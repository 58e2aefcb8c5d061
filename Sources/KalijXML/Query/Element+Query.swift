extension Element {
    /// All results of a query, in document order.
    ///
    /// - Parameters:
    ///   - query: The query; the type that is asked for says what it has to give.
    ///   - arguments: The values of its `%` specifiers, in their order. Too many or too few are a programming error.
    /// - Returns: The results. Elements are references into this tree.
    public func find<R: QueryValue>(_ query: Query<R>, _ arguments: any QueryArgument...) -> [R] {
        var results: [R] = []
        visit(query, arguments) { found, bytes in
            if let value = R.value(of: match(query, found, bytes)) { results.append(value) }
            return true
        }
        return results
    }

    /// The first result of a query, nil if there is none. See ``find(_:_:)``.
    public func findFirst<R: QueryValue>(_ query: Query<R>, _ arguments: any QueryArgument...) -> R? {
        var result: R?
        visit(query, arguments) { found, bytes in
            result = R.value(of: match(query, found, bytes))
            return result == nil
        }
        return result
    }

    /// Whether a query has a result. Stops at the first. See ``find(_:_:)``.
    public func check<R: QueryValue>(_ query: Query<R>, _ arguments: any QueryArgument...) -> Bool {
        isFound(query, arguments)
    }

    /// Whether a query has a result, whatever it gives. Stops at the first. See ``find(_:_:)``.
    public func check(_ query: Query<QueryResult>, _ arguments: any QueryArgument...) -> Bool {
        isFound(query, arguments)
    }

    private func isFound<R: QueryValue>(_ query: Query<R>, _ arguments: [any QueryArgument]) -> Bool {
        var isFound = false
        let converts = query.program.conversion != nil
        visit(query, arguments) { found, bytes in
            isFound = !converts || R.value(of: match(query, found, bytes)) != nil
            return !isFound
        }
        return isFound
    }

    /// Lends the bytes of the first text that a query extracts, without a copy; nil if there is no result.
    ///
    /// - Parameters:
    ///   - query: The query, which takes no conversion.
    ///   - arguments: The values of its `%` specifiers.
    ///   - body: Gets the bytes, UTF-8, which are good while it runs; it must not change the tree.
    /// - Returns: What `body` returns.
    public func withFirst<Value>(
        _ query: Query<String>, _ arguments: any QueryArgument..., body: (UnsafeRawBufferPointer) -> Value
    ) -> Value? {
        var value: Value?
        visit(query, arguments) { _, bytes in
            value = body(bytes)
            return false
        }
        return value
    }

    @inline(__always)
    private func visit<R>(
        _ query: Query<R>, _ arguments: [any QueryArgument], _ body: (UInt32, UnsafeRawBufferPointer) -> Bool
    ) {
        let program = query.program
        var values = BoundValues(interpolations: query.interpolations, arguments: query.boundArguments)
        if !arguments.isEmpty { values.arguments += arguments.map(\.queryText) }
        guard values.arguments.count == program.arguments else {
            // A mistake in the program's own text; a query from text binds its own arguments.
            fatalError(
                "query \"\(program.source)\" takes \(program.arguments) arguments, not \(values.arguments.count)")
        }
        let view = tree.view
        let (extraction, attribute) = (program.extraction, program.attribute)
        // The pointers of the run are good while the tree, the program and the values are in use here.
        withExtendedLifetime((tree, program)) {
            withUnsafePointer(to: values) { values in
                let run = QueryRun(program: program, tree: view, asked: index, values: values)
                run.run(from: index) { found in
                    switch extraction {
                    case .element, .attributes: return body(found, UnsafeRawBufferPointer(start: nil, count: 0))
                    case .form:
                        guard let form = program.form else { return true }
                        return FormReader(tree: view, form: found).visit(form) { body(found, $0) }
                    case .attribute:
                        guard let bytes = run.value(attribute, found) else { return true }
                        return body(found, bytes)
                    case .name: return body(found, view.bytes(view.nodes[Int(found)].name))
                    case .text: return view.withText(found) { $0.isEmpty || body(found, $0) }
                    }
                }
            }
        }
    }

    private func match<R>(_ query: Query<R>, _ found: UInt32, _ bytes: UnsafeRawBufferPointer) -> QueryMatch {
        QueryMatch(tree: tree, index: found, program: query.program, bytes: bytes)
    }
}
