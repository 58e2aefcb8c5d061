/// How large a tree is, for estimates of traffic.
public enum TreeSize {
    /// About how many bytes the whole tree of `element` has as text, without writing it: all values and texts, and for each element
    /// and each attribute what names and marks usually need.
    public static func bytes(around element: Element) -> Int {
        let header = element.tree.header
        return header.valueCount + header.textCount + header.nodeCount * 32 + header.attributeCount * 10
    }
}
