/// The first match of a query, in registers.
@frozen
@usableFromInline
struct FirstMatch {
    @frozen
    @usableFromInline
    enum Outcome: UInt8 {
        case none, found
        /// Found, but the conversion may still give no result.
        case convertible
        /// Needs ``Element/visit(_:_:)``: the text is in pieces, or the query reads a data form.
        case undecided
    }

    @usableFromInline let outcome: Outcome
    @usableFromInline let index: UInt32
    /// The extracted bytes; good while the tree lives and is not edited.
    @usableFromInline let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(_ outcome: Outcome, _ index: UInt32 = 0, _ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0)) {
        (self.outcome, self.index, self.bytes) = (outcome, index, bytes)
    }
}

extension QueryCore {
    /// The first match of an element, before conversion.
    @usableFromInline
    func first(in element: Element) -> FirstMatch {
        let matcher = QueryMatcher(element.tree, values: values())
        if plan.pointee.ascends { return firstOfLevels(matcher, element.index) }
        var walk = QueryWalk(plan, from: element.index, matcher)
        while true {
            let index = walk.next()
            if index == QueryWalk.end { return FirstMatch(.none) }
            let match = extract(matcher, index)
            if match.outcome != .none { return match }
        }
    }

    @inline(never)
    private func firstOfLevels(_ matcher: QueryMatcher, _ asked: UInt32) -> FirstMatch {
        for index in QueryLevels(matcher, from: asked).run(plan) {
            let match = extract(matcher, index)
            if match.outcome != .none { return match }
        }
        return FirstMatch(.none)
    }

    @inline(__always)
    private func extract(_ matcher: QueryMatcher, _ index: UInt32) -> FirstMatch {
        switch plan.pointee.extraction {
        case .element, .attributes: return FirstMatch(plan.pointee.found, index)
        case .form: return FirstMatch(.undecided)
        case .attribute:
            guard let bytes = matcher.value(plan.pointee.attribute, plan.pointee.attributeKey, index) else {
                return FirstMatch(.none)
            }
            return FirstMatch(plan.pointee.found, index, bytes)
        case .name: return FirstMatch(plan.pointee.found, index, matcher.tree.bytes(matcher.nodes[Int(index)].name))
        case .text:
            let node = matcher.nodes[Int(index)]
            if node.first != 0, matcher.tree.isMixed(index) { return FirstMatch(.undecided) }
            return FirstMatch(node.textLength == 0 ? .none : plan.pointee.found, index, matcher.tree.ownText(node))
        }
    }
}

extension Element {
    /// Calls `body` with each match of a query and the extracted bytes, in document order, until `body` returns false.
    func visit(_ core: QueryCore, _ body: (UInt32, UnsafeRawBufferPointer) -> Bool) {
        // The pointers are good while the tree and the query are in use here.
        withExtendedLifetime((tree, core)) {
            let matcher = QueryMatcher(tree, values: core.values())
            if core.plan.pointee.ascends {
                for found in QueryLevels(matcher, from: index).run(core.plan) {
                    if !lend(core, matcher, found, body) { return }
                }
                return
            }
            var walk = QueryWalk(core.plan, from: index, matcher)
            while true {
                let found = walk.next()
                if found == QueryWalk.end || !lend(core, matcher, found, body) { return }
            }
        }
    }

    @inline(__always)
    private func lend(
        _ core: QueryCore, _ matcher: QueryMatcher, _ found: UInt32, _ body: (UInt32, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        switch core.plan.pointee.extraction {
        case .element, .attributes: return body(found, UnsafeRawBufferPointer(start: nil, count: 0))
        case .form:
            guard let form = core.program.form else { return true }
            return FormReader(tree: matcher.tree, form: found).visit(form) { body(found, $0) }
        case .attribute:
            let bytes = matcher.value(core.plan.pointee.attribute, core.plan.pointee.attributeKey, found)
            return bytes.map { body(found, $0) } ?? true
        case .name: return body(found, matcher.tree.bytes(matcher.nodes[Int(found)].name))
        case .text: return matcher.tree.withText(found) { $0.isEmpty || body(found, $0) }
        }
    }
}
