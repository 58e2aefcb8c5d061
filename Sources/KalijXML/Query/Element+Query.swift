extension Element {
    /// All results of a query, in document order.
    ///
    /// - Parameter query: The query; the requested type determines which kinds fit.
    /// - Returns: The results. Elements are references into this tree.
    @inlinable
    public func find<R: QueryValue>(_ query: Query<R>) -> [R] {
        var results: [R] = []
        visitMatches(query.core) { match in
            if let value = R.value(of: match) { results.append(value) }
            return true
        }
        return results
    }

    /// All results of a query with arguments. See ``find(_:)``.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - arguments: The values of the `%` specifiers, in order. Too many or too few are a programming error.
    public func find<R: QueryValue>(
        _ query: Query<R>, _ arguments: any QueryArgument...
    ) -> [R] {
        find(Query(query.core.bound(to: arguments)))
    }

    /// The first result of a query, nil if there is none. See ``find(_:)``.
    @inlinable
    public func findFirst<R: QueryValue>(_ query: Query<R>) -> R? {
        withExtendedLifetime(self) {
            let first = query.core.first(in: self)
            switch first.outcome {
            case .none: return nil
            case .found, .convertible:
                let value = R.value(of: QueryMatch(self, first.index, query.core, first.bytes))
                return value ?? findLater(query.core, skipping: 1)
            case .undecided: return findLater(query.core, skipping: 0)
            }
        }
    }

    /// The first result of a query with arguments. See ``find(_:_:)``.
    public func findFirst<R: QueryValue>(
        _ query: Query<R>, _ arguments: any QueryArgument...
    ) -> R? {
        findFirst(Query(query.core.bound(to: arguments)))
    }

    /// Whether a query has a result. Stops at the first. See ``find(_:)``.
    @inlinable
    public func check<R: QueryValue>(_ query: Query<R>) -> Bool {
        let outcome = query.core.first(in: self).outcome
        return outcome == .found || (outcome != .none && checkSlowly(query))
    }

    /// Whether a query with arguments has a result. See ``find(_:_:)``.
    public func check<R: QueryValue>(
        _ query: Query<R>, _ arguments: any QueryArgument...
    ) -> Bool {
        check(Query<R>(query.core.bound(to: arguments)))
    }

    /// Whether a query has a result, of any kind. Stops at the first. See ``find(_:)``.
    @inlinable
    public func check(_ query: Query<QueryResult>) -> Bool {
        let outcome = query.core.first(in: self).outcome
        return outcome == .found || (outcome != .none && checkSlowly(query))
    }

    /// Whether a query with arguments has a result, of any kind. See ``find(_:_:)``.
    public func check(
        _ query: Query<QueryResult>, _ arguments: any QueryArgument...
    ) -> Bool {
        check(Query<QueryResult>(query.core.bound(to: arguments)))
    }
}

// MARK: - Bytes

extension Element {
    /// Lends the bytes of the first text of a query, without a copy (unless child elements stand between pieces of the
    /// text).
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - body: Gets the bytes, valid UTF-8. The bytes are good during the call, as long as the tree is not edited.
    /// - Returns: The result of `body`; nil if the query has no result.
    /// - Throws: The errors of `body`.
    @inlinable
    public func withFirst<Value>(
        _ query: Query<String>, body: (UnsafeRawBufferPointer) throws -> Value
    ) rethrows -> Value? {
        try withExtendedLifetime(self) {
            let first = query.core.first(in: self)
            switch first.outcome {
            case .none: return nil
            case .found, .convertible: return try body(first.bytes)
            case .undecided:
                guard var text = findLater(query.core, skipping: 0) as String? else { return nil }
                return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
            }
        }
    }

    /// The same for a query with arguments. See ``find(_:_:)``.
    public func withFirst<Value>(
        _ query: Query<String>, _ arguments: any QueryArgument...,
        body: (UnsafeRawBufferPointer) throws -> Value
    ) rethrows -> Value? {
        try withFirst(Query(query.core.bound(to: arguments)), body: body)
    }

    /// Lends the bytes of each text of a query, in document order. See ``withFirst(_:body:)``.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - body: Gets the bytes of one result. After an error, `body` is not called again.
    /// - Throws: The errors of `body`.
    @inlinable
    public func withEach<Failure: Error>(
        _ query: Query<String>, body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        visitMatches(query.core) { match in
            do throws(Failure) {
                try body(match.bytes)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }
}

// MARK: - Matches

extension Element {
    /// Calls `body` with each match of a query, in document order, until `body` returns false.
    @usableFromInline
    func visitMatches(_ core: QueryCore, _ body: (QueryMatch) -> Bool) {
        visit(core) { found, bytes in body(QueryMatch(self, found, core, bytes)) }
    }

    /// Whether there is a result, after all matches without a conversion result.
    @usableFromInline
    @inline(never)
    func checkSlowly<R: QueryValue>(_ query: Query<R>) -> Bool {
        var isFound = false
        let converts = query.core.plan.pointee.found == .convertible
        visit(query.core) { found, bytes in
            isFound = !converts || R.value(of: QueryMatch(self, found, query.core, bytes)) != nil
            return !isFound
        }
        return isFound
    }

    /// The first result after some matches.
    @usableFromInline
    @inline(never)
    func findLater<R: QueryValue>(_ core: QueryCore, skipping count: Int) -> R? {
        var (result, place) = (R?.none, 0)
        visit(core) { found, bytes in
            if place >= count { result = R.value(of: QueryMatch(self, found, core, bytes)) }
            place += 1
            return result == nil
        }
        return result
    }
}
