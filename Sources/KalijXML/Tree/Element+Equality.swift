extension Element: Equatable {
    public static func == (left: Element, right: Element) -> Bool {
        if left.isSame(as: right) { return true }
        var (first, second) = (left.index, right.index)
        while true {
            guard sameNode(left.tree, first, right.tree, second, isRoot: first == left.index) else { return false }
            let (down, downOther) = (left.tree.nodes[Int(first)].first, right.tree.nodes[Int(second)].first)
            if (down == 0) != (downOther == 0) { return false }
            if down != 0 {
                (first, second) = (down, downOther)
                continue
            }
            while true {
                if first == left.index || second == right.index { return first == left.index && second == right.index }
                let (next, nextOther) = (left.tree.nodes[Int(first)].next, right.tree.nodes[Int(second)].next)
                if (next == 0) != (nextOther == 0) { return false }
                if next != 0 {
                    (first, second) = (next, nextOther)
                    break
                }
                first = left.tree.nodes[Int(first)].parent
                second = right.tree.nodes[Int(second)].parent
            }
        }
    }

    private static func sameNode(_ left: Tree, _ first: UInt32, _ right: Tree, _ second: UInt32, isRoot: Bool) -> Bool {
        let (node, other) = (left.nodes[Int(first)], right.nodes[Int(second)])
        guard node.isText == other.isText, sameBytes(left.ownText(node), right.ownText(other)) else { return false }
        if node.isText { return true }
        // If both take their parents' namespaces, the parents' namespaces have been compared.
        let inherits = !isRoot && node.namespace == .inherited && other.namespace == .inherited
        guard sameBytes(left.bytes(node.name), right.bytes(other.name)),
            inherits || sameBytes(left.bytes(left.namespace(first)), right.bytes(right.namespace(second))),
            node.attributeCount == other.attributeCount
        else { return false }
        for place in Int(node.attributes)..<(Int(node.attributes) + Int(node.attributeCount)) {
            let attribute = left.attributes[place]
            let namespace = attribute.namespace.isAbsent ? nil : left.bytes(attribute.namespace)
            guard let match = right.findAttribute(second, left.bytes(attribute.name), namespace),
                sameBytes(left.value(attribute), right.value(right.attributes[match]))
            else { return false }
        }
        return true
    }
}
