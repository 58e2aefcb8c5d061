/// The first match of a query, in registers.
@frozen
@usableFromInline
struct FirstMatch {
    @frozen
    @usableFromInline
    enum Outcome: UInt8 {
        case none, found
        /// It takes ``Element/visit(_:_:)``: the text is in pieces, or it is about a data form.
        case undecided
    }

    @usableFromInline let outcome: Outcome
    @usableFromInline let index: UInt32
    /// The bytes that were extracted; good while the tree lives and is not edited.
    @usableFromInline let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(_ outcome: Outcome, _ index: UInt32 = 0, _ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0)) {
        (self.outcome, self.index, self.bytes) = (outcome, index, bytes)
    }
}

extension QueryCore {
    /// The first match of an element, before it is converted.
    @usableFromInline
    func first(in element: Element) -> FirstMatch {
        let matcher = QueryMatcher(tree: element.tree.view, values: values())
        if plan.pointee.ascends { return firstOfLevels(matcher, element.index) }
        var walk = QueryWalk(plan, from: element.index, matcher)
        while true {
            let index = walk.next()
            if index == QueryWalk.end { return FirstMatch(.none) }
            let match = extract(matcher, index)
            if match.outcome != .none { return match }
        }
    }

    /// Whether an element has a match; `undecided` if the match has to be converted first.
    @usableFromInline
    func check(_ element: Element) -> FirstMatch.Outcome {
        if plan.pointee.converts { return .undecided }
        let outcome = first(in: element).outcome
        return outcome == .undecided ? checkSlowly(element) : outcome
    }

    @inline(never)
    private func checkSlowly(_ element: Element) -> FirstMatch.Outcome {
        var outcome = FirstMatch.Outcome.none
        element.visit(self) { _, _ in
            outcome = .found
            return false
        }
        return outcome
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
        let view = matcher.tree
        switch plan.pointee.extraction {
        case .element, .attributes: return FirstMatch(.found, index)
        case .form: return FirstMatch(.undecided)
        case .attribute:
            guard let bytes = matcher.value(plan.pointee.attribute, plan.pointee.attributeKey, index) else {
                return FirstMatch(.none)
            }
            return FirstMatch(.found, index, bytes)
        case .name: return FirstMatch(.found, index, view.bytes(view.nodes[Int(index)].name))
        case .text:
            let node = view.nodes[Int(index)]
            if node.first != 0, view.isMixed(index) { return FirstMatch(.undecided) }
            return FirstMatch(node.textLength == 0 ? .none : .found, index, view.ownText(node))
        }
    }
}

extension Element {
    /// Calls `body` with each match of a query and what it extracts, in document order, until it says no.
    func visit(_ core: QueryCore, _ body: (UInt32, UnsafeRawBufferPointer) -> Bool) {
        // The pointers are good while the tree and the query are in use here.
        withExtendedLifetime((tree, core)) {
            let matcher = QueryMatcher(tree: tree.view, values: core.values())
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
        case .name: return body(found, matcher.tree.bytes(matcher.tree.nodes[Int(found)].name))
        case .text: return matcher.tree.withText(found) { $0.isEmpty || body(found, $0) }
        }
    }
}
