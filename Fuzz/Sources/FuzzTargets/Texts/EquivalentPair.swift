@_spi(_Unicode) import Swift

/// Two texts that are canonically equivalent, so equal to Swift, and differ in bytes.
struct EquivalentPair {
    let one: String
    let other: String

    /// What differs: a letter and its parts, two code points for one sign, marks in another order. The first ones pass the
    /// preparation of addresses unchanged: Unicode 3.2 does not know them.
    private static let atoms: [(String, String)] = [
        ("\u{FA70}", "\u{4E26}"), ("\u{1B06}", "\u{1B05}\u{1B35}"), ("\u{FAD9}", "\u{9F8E}"),
        ("\u{1B43}", "\u{1B42}\u{1B35}"),
        ("é", "e\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}"), ("`", "\u{1FEF}"), ("\u{3008}", "\u{2329}"),
        ("Å", "\u{212B}"), ("가", "\u{1100}\u{1161}"), ("각", "\u{AC00}\u{11A8}"), ("\u{308}\u{301}", "\u{344}"),
        ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("\u{915}\u{93C}", "\u{958}"), ("\u{2002}", "\u{2000}"),
        ("\u{1D157}\u{1D165}", "\u{1D15E}"), ("=\u{338}", "≠"), ("<\u{338}", "≮"), ("\u{2B9}", "\u{374}"),
    ]
    private static let prepared = 4

    /// - Parameter isPrepared: whether the pair stays as it is in addresses.
    init(_ source: inout ByteSource, isPrepared: Bool = false) {
        let atom = Self.atoms[source.number(below: isPrepared ? Self.prepared : Self.atoms.count)]
        let swaps = source.oneIn(2)
        let (head, tail) = isPrepared ? ("", "") : (source.text(), source.text())
        let (left, right) = (head + atom.0 + tail, Self.decomposed(head) + atom.1 + Self.decomposed(tail))
        (one, other) = swaps ? (right, left) : (left, right)
    }

    private static func decomposed(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text._nfd)
        return String(scalars)
    }
}
