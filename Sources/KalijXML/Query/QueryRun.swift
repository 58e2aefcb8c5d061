/// One run of a program over a tree.
struct QueryRun {
    let program: Program
    let tree: Tree
    let interpolations: [String]
    let arguments: [String]

    /// The document above the root: it holds the root alone, and is no element.
    private static let document = UInt32.max

    /// Calls `visit` with each element that the path reaches, in document order, until it says no.
    @inline(__always)
    func run(from asked: UInt32, _ visit: (UInt32) -> Bool) {
        if program.ascends { return runByLevels(from: asked, visit) }
        if program.isRooted {
            guard matches(program.steps, asked, parentNamespace(of: asked)) else { return }
            if program.stepCount == 1 {
                _ = visit(asked)
            } else {
                _ = descend(1, asked, visit)
            }
        } else {
            _ = descend(0, asked, visit)
        }
    }

    /// Looks among the children of `parent` for what the step asks for, and goes on from there. Says whether to go on.
    private func descend(_ step: Int, _ parent: UInt32, _ visit: (UInt32) -> Bool) -> Bool {
        var child = tree.nodes[Int(parent)].first
        guard child != 0 else { return true }
        let isLast = step + 1 == program.stepCount
        let namespace = tree.namespace(parent)
        while child != 0 {
            if matches(program.steps + step, child, namespace) {
                guard isLast ? visit(child) : descend(step + 1, child, visit) else { return false }
            }
            child = tree.nodes[Int(child)].next
        }
        return true
    }

    /// The namespace that a step without one asks for: that of the parent, nil (any) without a parent.
    private func parentNamespace(of index: UInt32) -> NameReference? {
        tree.isRoot(index) ? nil : tree.namespace(tree.nodes[Int(index)].parent)
    }

    // All elements that a level holds are equally deep, so the parents of an ordered level are ordered, and what
    // is reached twice stands side by side.
    private func runByLevels(from asked: UInt32, _ visit: (UInt32) -> Bool) {
        var level = [asked]
        for place in 0..<program.stepCount {
            let step = program.steps + place
            var next: [UInt32] = []
            for index in level {
                switch step.pointee.kind {
                case .parent: reach(parent(of: index), &next)
                case .itself: testItself(step, index, &next)
                case .children where place == 0 && program.isRooted: testItself(step, index, &next)
                case .children: reachChildren(step, index, &next)
                }
            }
            level = next
        }
        for index in level where index != QueryRun.document {
            if !visit(index) { return }
        }
    }

    private func reach(_ index: UInt32?, _ level: inout [UInt32]) {
        if let index, level.last != index { level.append(index) }
    }

    private func parent(of index: UInt32) -> UInt32? {
        if index == QueryRun.document { return nil }
        return tree.isRoot(index) ? QueryRun.document : tree.nodes[Int(index)].parent
    }

    private func testItself(_ step: UnsafePointer<Step>, _ index: UInt32, _ level: inout [UInt32]) {
        guard index != QueryRun.document, matches(step, index, parentNamespace(of: index)) else { return }
        reach(index, &level)
    }

    private func reachChildren(_ step: UnsafePointer<Step>, _ index: UInt32, _ level: inout [UInt32]) {
        if index == QueryRun.document {
            // The root of the tree that was asked: every element reached so far is in it.
            if matches(step, root, nil) { reach(root, &level) }
            return
        }
        let namespace = tree.namespace(index)
        var child = tree.nodes[Int(index)].first
        while child != 0 {
            if matches(step, child, namespace) { reach(child, &level) }
            child = tree.nodes[Int(child)].next
        }
    }

    let root: UInt32

    init(program: Program, tree: Tree, asked: UInt32, interpolations: [String], arguments: [String]) {
        self.program = program
        self.tree = tree
        self.interpolations = interpolations
        self.arguments = arguments
        var top = asked
        if program.ascends { while !tree.isRoot(top) { top = tree.nodes[Int(top)].parent } }
        root = top
    }
}

// MARK: - Tests

extension QueryRun {
    @inline(__always)
    private func matches(_ step: UnsafePointer<Step>, _ index: UInt32, _ parentNamespace: NameReference?) -> Bool {
        let node = tree.nodes[Int(index)]
        if node.isText { return false }
        if !step.pointee.name.isAny,
            step.pointee.name.matches(node.name, tree) == step.pointee.isNegated
        {
            return false
        }
        switch step.pointee.namespace {
        case .any: break
        case .same:
            if let parentNamespace, node.namespace != .inherited, node.namespace != parentNamespace {
                if !isSame(node.namespace, parentNamespace) { return false }
            }
        case .exactly(let wanted):
            let own = node.namespace == .inherited ? parentNamespace ?? tree.namespace(index) : node.namespace
            if !wanted.matches(own, tree) { return false }
        }
        return step.pointee.filters.isEmpty || passes(step.pointee.filters, index)
    }

    private func isSame(_ left: NameReference, _ right: NameReference) -> Bool {
        if left.isAbsent || right.isAbsent { return left.isAbsent && right.isAbsent }
        if left.isGlobal && right.isGlobal { return false }
        return tree.isName(left, tree.bytes(right))
    }

    private func passes(_ filters: [Filter], _ index: UInt32) -> Bool {
        for filter in filters {
            guard let value = value(filter.attribute, index) else { return false }
            switch filter.condition {
            case .equals(let parts): if !equals(value, parts) { return false }
            case .matches(let expression): if !expression.isFound(in: value) { return false }
            }
        }
        return true
    }

    private func equals(_ value: UnsafeRawBufferPointer, _ parts: [ValuePart]) -> Bool {
        var rest = value
        for part in parts {
            let length: Int? =
                switch part {
                case .literal(let bytes): bytes.withUnsafeBytes { prefixLength(rest, $0) }
                case .interpolation(let place): withBytes(of: interpolations[place]) { prefixLength(rest, $0) }
                case .argument(let place): withBytes(of: arguments[place]) { prefixLength(rest, $0) }
                }
            guard let length else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length))
        }
        return rest.isEmpty
    }

    private func prefixLength(_ value: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Int? {
        guard part.count <= value.count else { return nil }
        return sameBytes(UnsafeRawBufferPointer(rebasing: value.prefix(part.count)), part) ? part.count : nil
    }

    /// The bytes of an attribute, nil if there is none.
    @inline(__always)
    func value(_ test: AttributeTest, _ index: UInt32) -> UnsafeRawBufferPointer? {
        if test.isNamespaceDeclaration {
            let namespace = tree.namespace(index)
            return namespace.isAbsent ? nil : tree.bytes(namespace)
        }
        let node = tree.nodes[Int(index)]
        var place = Int(node.attributes)
        let end = place + Int(node.attributeCount)
        while place < end {
            let attribute = tree.attributes[place]
            if test.name.matches(attribute.name, tree) {
                if test.namespace.isAny
                    ? attribute.namespace.isAbsent : test.namespace.matches(attribute.namespace, tree)
                {
                    return tree.value(attribute)
                }
            }
            place += 1
        }
        return nil
    }
}
