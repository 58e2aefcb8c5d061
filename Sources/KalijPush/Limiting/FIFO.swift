/// First in, first out, without moving elements.
struct FIFO<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var start = 0

    var count: Int { elements.count - start }
    var first: Element? { start < elements.count ? elements[start] : nil }

    var all: ArraySlice<Element> { elements[start...] }

    /// The elements but some.
    func without(_ isLeftOut: (Element) -> Bool) -> FIFO {
        var rest = FIFO()
        for element in all where !isLeftOut(element) { rest.append(element) }
        return rest
    }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() {
        guard start < elements.count else { return }
        start += 1
        if start == elements.count {
            elements = []
            start = 0
        } else if start >= 1024, start > elements.count / 2 {
            elements.removeSubrange(..<start)
            start = 0
        }
    }
}
