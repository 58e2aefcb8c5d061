import CLibXML2

// A top-level element over a limit is read to its end, which shows whether the element is well-formed, but not kept.
extension ParserState {
    /// From here on the open top-level element is only counted.
    mutating func skip(_ limit: LimitKind) {
        skipping = limit
        let root = Element(tree: builder.finish(), index: 0)
        var attributes: [String: String] = [:]  // characters: equivalent names are one; the last counts.
        for place in root.attributePlaces.prefix(64) where root.tree.attributes[place].length <= 4_096 {
            let attribute = root.tree.attributes[place]
            attributes[root.key(of: attribute)] = String(decoding: root.tree.value(attribute), as: UTF8.self)
        }
        skipped = SkippedElement(
            name: root.name, namespace: root.namespace, attributes: attributes, limit: limit.limit, prefix: [],
            byteCount: 0, line: startLine)
    }

    /// The top-level tag itself is over a limit: its description is taken from libxml2 instead of the tree.
    mutating func describeSkipped(
        _ name: UnsafePointer<UInt8>, _ namespace: UnsafePointer<UInt8>?, _ count: Int,
        _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
    ) {
        func text(_ pointer: UnsafePointer<UInt8>) -> String {
            let bytes = UnsafeBufferPointer(start: pointer, count: limits.nameBytes).prefix { $0 != 0 }
            return String(decoding: bytes, as: UTF8.self)
        }
        skipped?.name = text(name)
        skipped?.namespace = namespace.map(text)
        for place in 0..<min(count, 64) {
            guard let name = attributes?[place * 5], let start = attributes?[place * 5 + 3],
                let end = attributes?[place * 5 + 4], end - start <= 4_096
            else { continue }
            let space = attributes?[place * 5 + 2].map(text)
            let key = space.map { $0 == xmlNamespace ? "xml:" + text(name) : "{\($0)}" + text(name) } ?? text(name)
            let value = UnsafeBufferPointer(start: start, count: end - start)
            skipped?.attributes[key] = String(decoding: value, as: UTF8.self)
        }
    }

    mutating func deliverSkipped(_ end: Int) {
        guard var skipped else { return }
        skipped.byteCount = end - start + leftOut
        // The limit exceeded first depends on the chunks; this test does not.
        if skipped.byteCount > limits.stanzaBytes { skipped.limit = .stanzaBytes }
        skipped.prefix = Array(UnsafeBufferPointer(start: earlier.base, count: min(earlier.count, end - start)))
        let from = max(start, chunkStart) - chunkStart
        let wanted = min(limits.prefixBytes - earlier.count, end - chunkStart - from)
        if wanted > 0, from >= 0, from + wanted <= chunk.count {
            skipped.prefix.append(contentsOf: chunk[from..<(from + wanted)])
        }
        events.append(.skipped(skipped))
        self.skipped = nil
        skipping = nil
        builder.reset()
    }
}
