/// What the filters of a query compare with.
struct BoundValues {
    var interpolations: [String]
    var arguments: [String]
}

/// One run of a program over a tree. It holds plain pointers, because counting references costs more than the run;
/// who starts it keeps the program, the tree and the values alive.
struct QueryRun: BitwiseCopyable {
    private let steps: UnsafeMutablePointer<Step>
    private let stepCount: Int
    private let isRooted: Bool
    private let ascends: Bool
    private let tree: TreeView
    private let values: UnsafePointer<BoundValues>

    /// The document above the root: it holds the root alone, and is no element.
    private static let document = UInt32.max

    /// Calls `visit` with each element that the path reaches, in document order, until it says no.
    @inline(__always)
    func run(from asked: UInt32, _ visit: (UInt32) -> Bool) {
        if ascends { return runByLevels(from: asked, visit) }
        if isRooted {
            guard matches(steps, asked, parentNamespace(of: asked)) else { return }
            if stepCount == 1 {
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
        let isLast = step + 1 == stepCount
        let namespace = tree.namespace(parent)
        while child != 0 {
            if matches(steps + step, child, namespace) {
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
        for place in 0..<stepCount {
            let step = steps + place
            var next: [UInt32] = []
            for index in level {
                switch step.pointee.kind {
                case .parent: reach(parent(of: index), &next)
                case .itself: testItself(step, index, &next)
                case .children where place == 0 && isRooted: testItself(step, index, &next)
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

    private let root: UInt32

    init(program: Program, tree: TreeView, asked: UInt32, values: UnsafePointer<BoundValues>) {
        (steps, stepCount) = (program.steps, program.stepCount)
        (isRooted, ascends) = (program.isRooted, program.ascends)
        self.tree = tree
        self.values = values
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
        return step.pointee.filterCount == 0 || passes(step, index)
    }

    private func isSame(_ left: NameReference, _ right: NameReference) -> Bool {
        if left.isAbsent || right.isAbsent { return left.isAbsent && right.isAbsent }
        if left.isGlobal && right.isGlobal { return false }
        return tree.isName(left, tree.bytes(right))
    }

    private func passes(_ step: UnsafePointer<Step>, _ index: UInt32) -> Bool {
        for place in 0..<step.pointee.filterCount {
            let filter = step.pointee.filters + place
            guard let value = value(filter.pointee.attribute, index) else { return false }
            switch filter.pointee.condition {
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
                case .interpolation(let place):
                    withBytes(of: values.pointee.interpolations[place]) { prefixLength(rest, $0) }
                case .argument(let place): withBytes(of: values.pointee.arguments[place]) { prefixLength(rest, $0) }
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
