/// Compares the elements of a tree with the steps of a plan. Holds plain pointers, because counting references costs
/// more than a run; the caller of a run keeps the tree, the program and the values alive.
struct QueryMatcher: BitwiseCopyable {
    /// The tree; the values of each turn are separate members, so that all of them fit in registers.
    private let owner: Unmanaged<Tree>
    let nodes: UnsafePointer<Node>
    /// The bound values of the filters.
    let values: UnsafePointer<UnsafeRawBufferPointer>?
    private static let isID: UInt32 = 0x8000_0000

    @inline(__always)
    init(_ tree: Tree, values: UnsafePointer<UnsafeRawBufferPointer>?) {
        owner = .passUnretained(tree)
        nodes = UnsafePointer(tree.nodes)
        self.values = values
    }

    @inline(__always)
    var tree: TreeView { owner._withUnsafeGuaranteedRef { $0.view } }

    /// Whether an element fits a step among the children of an element. `wanted` is the namespace of the children (see
    /// ``requiredNamespace(_:_:)``).
    @inline(__always)
    func fits(_ step: UnsafePointer<PathStep>, _ index: UInt32, wanted: UInt32) -> Bool {
        let node = nodes + Int(index)
        let name = node.pointee.name.raw
        if name != step.pointee.nameKey {
            // Two ids are two names.
            if name & step.pointee.nameKey & QueryMatcher.isID != 0 { return false }
            if !isNamed(step, node.pointee.name) { return false }
        }
        let namespace = node.pointee.namespace.raw
        if namespace != wanted {
            if namespace & wanted & QueryMatcher.isID != 0 { return false }
            if !isInNamespaceOfParent(step, index) { return false }
        }
        switch step.pointee.filtering {
        case .none: return true
        case .simple: return passesSimply(step, node)
        case .any: return passes(step, index)
        }
    }

    /// The first value to compare the namespaces of the children of `parent` with.
    @inline(__always)
    func requiredNamespace(_ step: UnsafePointer<PathStep>, _ parent: UInt32) -> UInt32 {
        step.pointee.inheritsNamespace ? tree.namespace(parent).raw : step.pointee.namespaceKey
    }

    /// The same for a single element, in any place.
    @inline(never)
    func fitsAnywhere(_ step: UnsafePointer<PathStep>, _ index: UInt32) -> Bool {
        let node = tree.nodes[Int(index)]
        let parent = tree.isRoot(index) ? nil : tree.namespace(node.parent)
        return isNamed(step, node.name) && isInNamespace(step, index, parent: parent)
            && (step.pointee.filterCount == 0 || passes(step, index))
    }

    @inline(never)
    private func isNamed(_ step: UnsafePointer<PathStep>, _ name: NameReference) -> Bool {
        if name == .text { return false }
        return step.pointee.name.isAny || step.pointee.name.matches(name, tree) != step.pointee.isNegated
    }

    @inline(never)
    private func isInNamespaceOfParent(_ step: UnsafePointer<PathStep>, _ index: UInt32) -> Bool {
        isInNamespace(step, index, parent: tree.namespace(nodes[Int(index)].parent))
    }

    /// `parent` is the namespace for a step without a namespace; nil (any) without a parent.
    @inline(never)
    private func isInNamespace(_ step: UnsafePointer<PathStep>, _ index: UInt32, parent: NameReference?) -> Bool {
        let own = tree.nodes[Int(index)].namespace
        switch step.pointee.namespace {
        case .any: return true
        case .same:
            guard let parent, own != .inherited, own != parent else { return true }
            return isSame(own, parent)
        case .exactly(let wanted):
            return wanted.matches(own == .inherited ? tree.namespace(index) : own, tree)
        }
    }

    private func isSame(_ left: NameReference, _ right: NameReference) -> Bool {
        if left.isAbsent || right.isAbsent { return left.isAbsent && right.isAbsent }
        if left.isGlobal && right.isGlobal { return false }
        return tree.isName(left, tree.bytes(right))
    }
}

// MARK: - Attributes

extension QueryMatcher {
    @inline(__always)
    private func passesSimply(_ step: UnsafePointer<PathStep>, _ node: UnsafePointer<Node>) -> Bool {
        let key = step.pointee.filterKey
        var attribute = tree.attributes + Int(node.pointee.attributes)
        let end = attribute + Int(node.pointee.attributeCount)
        while attribute < end {
            let name = attribute.pointee.name.raw
            if name == key, attribute.pointee.namespace.isAbsent {
                let length = Int(attribute.pointee.length)
                if length != step.pointee.filterValue.count { return false }
                return areSame(tree.values + Int(attribute.pointee.value), step.pointee.filterValue)
            }
            // fits: nodes are counted in 32 bits
            if name & QueryMatcher.isID == 0 { return passes(step, UInt32(node - nodes)) }
            attribute += 1
        }
        return false
    }

    /// Compares as many bytes as `right` has, most values in two steps and without a call. Nothing after these bytes is
    /// read.
    @inline(__always)
    private func areSame(_ left: UnsafePointer<UInt8>, _ right: UnsafeRawBufferPointer) -> Bool {
        guard let other = right.baseAddress else { return true }
        let (this, count) = (UnsafeRawPointer(left), right.count)
        if count > 16 { return compareMemory(this, other, count) }
        if count >= 8 {
            return this.loadUnaligned(as: UInt64.self) == other.loadUnaligned(as: UInt64.self)
                && (this + (count &- 8)).loadUnaligned(as: UInt64.self)
                    == (other + (count &- 8)).loadUnaligned(as: UInt64.self)
        }
        if count >= 4 {
            return this.loadUnaligned(as: UInt32.self) == other.loadUnaligned(as: UInt32.self)
                && (this + (count &- 4)).loadUnaligned(as: UInt32.self)
                    == (other + (count &- 4)).loadUnaligned(as: UInt32.self)
        }
        return compareMemory(this, other, count)
    }

    @inline(never)
    private func passes(_ step: UnsafePointer<PathStep>, _ index: UInt32) -> Bool {
        for place in 0..<step.pointee.filterCount {
            let filter = step.pointee.filters + place
            guard let value = value(filter.pointee.attribute, filter.pointee.attributeKey, index) else { return false }
            if let expression = filter.pointee.expression {
                if !expression._withUnsafeGuaranteedRef({ $0.isFound(in: value) }) { return false }
            } else if !equals(value, filter) {
                return false
            }
        }
        return true
    }

    @inline(__always)
    private func equals(_ value: UnsafeRawBufferPointer, _ filter: UnsafePointer<FilterPlan>) -> Bool {
        let first = filter.pointee.parts.pointee
        if filter.pointee.partCount == 1, first.place == nil { return sameBytes(value, first.literal) }
        return equalsParts(value, filter)
    }

    @inline(never)
    private func equalsParts(_ value: UnsafeRawBufferPointer, _ filter: UnsafePointer<FilterPlan>) -> Bool {
        var rest = value
        for place in 0..<filter.pointee.partCount {
            let part = filter.pointee.parts[place]
            var bytes = part.literal
            if let place = part.place {
                guard let values else { return false }
                bytes = values[place]
            }
            guard bytes.count <= rest.count else { return false }
            guard sameBytes(UnsafeRawBufferPointer(rebasing: rest.prefix(bytes.count)), bytes) else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(bytes.count))
        }
        return rest.isEmpty
    }

    /// The bytes of an attribute, nil if there is none.
    @inline(__always)
    func value(_ test: UnsafePointer<AttributeTest>, _ key: UInt32, _ index: UInt32) -> UnsafeRawBufferPointer? {
        if key == 0 { return anyValue(test, index) }
        let node = nodes + Int(index)
        var attribute = tree.attributes + Int(node.pointee.attributes)
        let end = attribute + Int(node.pointee.attributeCount)
        while attribute < end {
            if attribute.pointee.name.raw == key {
                if attribute.pointee.namespace.isAbsent { return tree.value(attribute.pointee) }
            } else if !attribute.pointee.name.isGlobal {
                // The name may have got its id after the tree was made.
                return anyValue(test, index)
            }
            attribute += 1
        }
        return nil
    }

    @inline(never)
    private func anyValue(_ test: UnsafePointer<AttributeTest>, _ index: UInt32) -> UnsafeRawBufferPointer? {
        if test.pointee.isNamespaceDeclaration {
            let namespace = tree.namespace(index)
            return namespace.isAbsent ? nil : tree.bytes(namespace)
        }
        let node = tree.nodes[Int(index)]
        for place in Int(node.attributes)..<Int(node.attributes) + Int(node.attributeCount) {
            let attribute = tree.attributes[place]
            guard test.pointee.name.matches(attribute.name, tree) else { continue }
            if test.pointee.namespace.isAny
                ? attribute.namespace.isAbsent : test.pointee.namespace.matches(attribute.namespace, tree)
            {
                return tree.value(attribute)
            }
        }
        return nil
    }
}
