extension Element {
    /// All results of a query, in document order.
    ///
    /// - Parameters:
    ///   - query: The query; the type that is asked for says what it has to give.
    ///   - arguments: The values of its `%` specifiers, in their order. Too many or too few are a programming error.
    /// - Returns: The results. Elements are references into this tree.
    public func find<R: QueryValue>(_ query: Query<R>, _ arguments: any QueryArgument...) -> [R] {
        var results: [R] = []
        visit(query, arguments) { match in
            if let value = R.value(of: match) { results.append(value) }
            return true
        }
        return results
    }

    /// The first result of a query, nil if there is none. See ``find(_:_:)``.
    public func findFirst<R: QueryValue>(_ query: Query<R>, _ arguments: any QueryArgument...) -> R? {
        var result: R?
        visit(query, arguments) { match in
            result = R.value(of: match)
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
        visit(query, arguments) { match in
            isFound = !converts || R.value(of: match) != nil
            return !isFound
        }
        return isFound
    }

    /// Lends the bytes of the first text that a query extracts, without a copy; nil if there is no result.
    public func withFirst<Value>(
        _ query: Query<String>, _ arguments: any QueryArgument..., body: (UnsafeRawBufferPointer) -> Value
    ) -> Value? {
        var value: Value?
        visit(query, arguments) { match in
            value = body(match.bytes)
            return false
        }
        return value
    }

    private func visit<R>(
        _ query: Query<R>, _ arguments: [any QueryArgument], _ body: (QueryMatch) -> Bool
    ) {
        let program = query.program
        var texts = query.boundArguments
        if !arguments.isEmpty { texts += arguments.map(\.queryText) }
        precondition(
            texts.count == program.arguments,
            "query \"\(program.source)\" takes \(program.arguments) arguments, not \(texts.count)")
        let run = QueryRun(
            program: program, tree: tree, asked: index, interpolations: query.interpolations, arguments: texts)
        let tree = tree
        run.run(from: index) { found in
            switch program.extraction {
            case .element, .attributes, .form:
                return body(
                    QueryMatch(
                        tree: tree, index: found, program: program, bytes: UnsafeRawBufferPointer(start: nil, count: 0))
                )
            case .attribute:
                guard let bytes = run.value(program.attribute, found) else { return true }
                return body(QueryMatch(tree: tree, index: found, program: program, bytes: bytes))
            case .name:
                let bytes = tree.bytes(tree.nodes[Int(found)].name)
                return body(QueryMatch(tree: tree, index: found, program: program, bytes: bytes))
            case .text:
                return tree.withText(found) { bytes in
                    bytes.isEmpty || body(QueryMatch(tree: tree, index: found, program: program, bytes: bytes))
                }
            }
        }
    }
}
