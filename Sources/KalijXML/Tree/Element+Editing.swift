extension Element {
    /// Copies an element in as the last child and returns the reference to the copy.
    @discardableResult
    public func add(_ child: Element) -> Element {
        let copied = tree.copy(child.index, of: child.tree, parent: index)
        tree.link(copied, lastIn: index)
        return Element(tree: tree, index: copied)
    }

    /// Copies an element in right before one of the children, and returns the reference to the copy. Text before the
    /// child stays before the copy.
    ///
    /// If `sibling` is no child of this element, the copy becomes the last child.
    @discardableResult
    public func insert(_ child: Element, before sibling: Element) -> Element {
        guard sibling.tree === tree, let parent = sibling.parent, parent.index == index else { return add(child) }
        let copied = tree.copy(child.index, of: child.tree, parent: index)
        tree.link(copied, before: sibling.index, in: index)
        return Element(tree: tree, index: copied)
    }

    /// Adds text after the present content of the element.
    public func add(text: String) {
        let text = validCharacters(text)
        withBytes(of: text) { tree.addText($0, to: index) }
    }

    /// Replaces the element's own text; its children stay.
    public func setText(_ text: String) {
        let pieces = tree.childIndices(index).filter { tree.nodes[Int($0)].isText }
        for piece in pieces { tree.unlink(piece, from: index) }
        let text = validCharacters(text)
        tree.nodes[Int(index)].text = withBytes(of: text) { tree.appendText($0) }
        tree.nodes[Int(index)].textLength = UInt32(text.utf8.count)  // traps: on 4 GiB of a program's own text
    }

    /// Takes a child out of the tree. References to the child stay good; the child is the root of its own tree from
    /// then on.
    public func remove(_ child: Element) {
        guard child.tree === tree, child.parent?.index == index else { return }
        tree.nodes[Int(child.index)].namespace = tree.namespace(child.index)
        tree.unlink(child.index, from: index)
        tree.nodes[Int(child.index)].parent = child.index
        tree.nodes[Int(child.index)].next = 0
        tree.joinText(in: index)
    }

    /// Takes this element out of its tree.
    public func remove() { parent?.remove(self) }

    /// A new tree with the same content and the namespace in effect.
    public func copy() -> sending Element {
        let copy = Tree.make(nodes: 8, attributes: 8, values: 128, texts: 64)
        _ = copy.copy(index, of: tree, parent: 0)
        copy.contentNamespace = index == 0 ? tree.contentNamespace.map { copy.intern($0, of: tree) } : nil
        // A tree made here; the original is not part of the copy.
        return UncheckedSending(audited: Element(tree: copy, index: 0)).take()
    }
}

extension Tree {
    func childIndices(_ parent: UInt32) -> [UInt32] {
        var result: [UInt32] = []
        var child = nodes[Int(parent)].first
        while child != 0 {
            result.append(child)
            child = nodes[Int(child)].next
        }
        return result
    }

    func lastChild(_ parent: UInt32) -> UInt32 {
        var child = nodes[Int(parent)].first
        if lastAdded.parent == parent, lastAdded.child != 0 { child = lastAdded.child }
        guard child != 0 else { return 0 }
        while nodes[Int(child)].next != 0 { child = nodes[Int(child)].next }
        return child
    }

    func link(_ child: UInt32, lastIn parent: UInt32) {
        ChildSketch.discard(of: self)
        let last = lastChild(parent)
        if last == 0 { nodes[Int(parent)].first = child } else { nodes[Int(last)].next = child }
        lastAdded = (parent, child)
    }

    func link(_ child: UInt32, before sibling: UInt32, in parent: UInt32) {
        ChildSketch.discard(of: self)
        nodes[Int(child)].next = sibling
        guard nodes[Int(parent)].first != sibling else {
            nodes[Int(parent)].first = child
            return
        }
        var before = nodes[Int(parent)].first
        while before != 0, nodes[Int(before)].next != sibling { before = nodes[Int(before)].next }
        nodes[Int(before)].next = child
    }

    func unlink(_ child: UInt32, from parent: UInt32) {
        lastAdded = (0, 0)
        if nodes[Int(parent)].first == child {
            nodes[Int(parent)].first = nodes[Int(child)].next
            return
        }
        var before = nodes[Int(parent)].first
        while before != 0 {
            if nodes[Int(before)].next == child {
                nodes[Int(before)].next = nodes[Int(child)].next
                return
            }
            before = nodes[Int(before)].next
        }
    }

    /// Adds text at the end of an element's content.
    func addText(_ bytes: UnsafeRawBufferPointer, to parent: UInt32) {
        guard !bytes.isEmpty else { return }
        let last = lastChild(parent)
        if last == 0 {
            extendText(of: parent, bytes)
        } else if nodes[Int(last)].isText {
            extendText(of: last, bytes)
        } else {
            let piece = append(Node(name: .text, namespace: .inherited, parent: parent))
            extendText(of: piece, bytes)
            link(piece, lastIn: parent)
        }
    }

    private func extendText(of index: UInt32, _ bytes: UnsafeRawBufferPointer) {
        let node = nodes[Int(index)]
        if Int(node.text) + Int(node.textLength) != textCount {
            let before = [UInt8](ownText(node))
            nodes[Int(index)].text = before.withUnsafeBytes { appendText($0) }
        }
        _ = appendText(bytes)
        nodes[Int(index)].textLength += UInt32(bytes.count)  // traps: on 4 GiB of a program's own text
    }

    /// Joins neighbouring pieces of text.
    func joinText(in parent: UInt32) {
        var before = parent
        for child in childIndices(parent) {
            if nodes[Int(child)].isText, before == parent || nodes[Int(before)].isText {
                let piece = [UInt8](ownText(nodes[Int(child)]))
                piece.withUnsafeBytes { extendText(of: before, $0) }
                unlink(child, from: parent)
            } else {
                before = child
            }
        }
    }

    /// A name of another tree, stored here.
    func intern(_ name: NameReference, of other: Tree) -> NameReference {
        if name.isGlobal || name.isAbsent || name == .text { return name }
        let bytes = [UInt8](other.bytes(name))
        return bytes.withUnsafeBytes { store($0) }
    }

    /// Copies `source` and its content to the end of this tree, not yet linked to `parent`, and returns the place.
    func copy(_ source: UInt32, of other: Tree, parent: UInt32) -> UInt32 {
        let root = copyNode(source, of: other, parent: parent)
        nodes[Int(root)].namespace = intern(other.namespace(source), of: other)
        var (from, into, lastCopied) = (source, root, UInt32(0))
        while true {
            // Down, or along, or up until there is a sibling.
            var next = other.nodes[Int(from)].first
            if next != 0 {
                lastCopied = 0
            } else {
                while from != source, other.nodes[Int(from)].next == 0 {
                    from = other.nodes[Int(from)].parent
                    lastCopied = into
                    into = nodes[Int(into)].parent
                }
                if from == source { return root }
                next = other.nodes[Int(from)].next
                lastCopied = into
                into = nodes[Int(into)].parent
            }
            let copied = copyNode(next, of: other, parent: into)
            if lastCopied == 0 { nodes[Int(into)].first = copied } else { nodes[Int(lastCopied)].next = copied }
            (from, into) = (next, copied)
        }
    }

    private func copyNode(_ source: UInt32, of other: Tree, parent: UInt32) -> UInt32 {
        let original = other.nodes[Int(source)]
        var node = Node(
            name: intern(original.name, of: other), namespace: intern(original.namespace, of: other), parent: parent)
        // Of this tree, the bytes may move while they are appended.
        func fixed(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> UInt32) -> UInt32 {
            other === self ? [UInt8](bytes).withUnsafeBytes(body) : body(bytes)
        }
        node.text = fixed(other.ownText(original)) { appendText($0) }
        node.textLength = original.textLength
        node.attributes = UInt32(attributeCount)  // fits: an attribute has 16 bytes, and there is no memory for so many
        node.attributeCount = original.attributeCount
        for place in Int(original.attributes)..<(Int(original.attributes) + Int(original.attributeCount)) {
            let attribute = other.attributes[place]
            let copied = Attribute(
                name: intern(attribute.name, of: other), namespace: intern(attribute.namespace, of: other),
                value: fixed(other.value(attribute)) { appendValue($0) }, length: attribute.length)
            _ = append(copied)
        }
        return append(node)
    }
}
