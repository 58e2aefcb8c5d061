/// The nodes that are origins of records, by number: a million records name their nodes in two bytes each.
public struct NodeRegistry: Sendable {
    /// This node.
    static let here: UInt16 = 0
    /// Names ever used; more are not taken.
    private static let limit = 4_096

    enum Standing: Sendable {
        case admitted
        /// Its records were wrong too often.
        case excluded
        /// Not in the configuration.
        case absent
    }

    private(set) var names: [String]
    private var standings: [Standing] = [.admitted]
    private var numbers: [String: UInt16] = [:]  // characters: names of configured nodes.

    /// - Parameter name: of this node; empty if there are no others.
    init(_ name: String) { names = [name] }

    /// Every number with a name, this node's first.
    var all: Range<Int> { names.indices }

    /// The number of a record's origin. A record without a name is from here.
    func number(of name: String) -> UInt16? {
        name.isEmpty || name == names[0] ? Self.here : numbers[name]
    }

    /// A record's origin; empty for this node.
    func origin(_ number: UInt16) -> String {
        number == Self.here || Int(number) >= names.count ? "" : names[Int(number)]
    }

    func name(_ number: UInt16) -> String { Int(number) < names.count ? names[Int(number)] : "" }

    func standing(_ number: UInt16) -> Standing { Int(number) < standings.count ? standings[Int(number)] : .absent }

    func isAdmitted(_ number: UInt16) -> Bool { standing(number) == .admitted }

    /// The other nodes whose records are read.
    var admitted: [UInt16] {
        all.dropFirst().filter { standings[$0] == .admitted }.map { UInt16(truncatingIfNeeded: $0) }
    }

    /// Applies the nodes of the configuration.
    /// - Returns: the nodes that were added, and those that were removed.
    mutating func configure(_ own: String, _ others: [String]) -> (new: [UInt16], gone: [UInt16]) {
        names[0] = own
        let wanted = Set(others).subtracting([own, ""])
        var (new, gone): ([UInt16], [UInt16]) = ([], [])
        for number in all.dropFirst() where standings[number] != .absent && !wanted.contains(names[number]) {
            standings[number] = .absent
            gone.append(UInt16(truncatingIfNeeded: number))
        }
        for name in wanted.sorted() {
            if let number = numbers[name], standings[Int(number)] != .absent { continue }
            // A node that is added again gets another number: its former records do not become valid again.
            guard names.count < Self.limit else { continue }
            let number = UInt16(truncatingIfNeeded: names.count)
            names.append(name)
            standings.append(.admitted)
            numbers[name] = number
            new.append(number)
        }
        return (new, gone)
    }

    /// Nothing of a node counts any more, until the node has been removed from the configuration.
    mutating func exclude(_ number: UInt16) {
        guard number != Self.here, Int(number) < standings.count else { return }
        standings[Int(number)] = .excluded
    }
}
