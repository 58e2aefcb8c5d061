import KalijCommandLine

/// The words of a command line, parsed according to a command's declaration.
struct Arguments {
    typealias Option = CommandOption

    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []
    /// The positions of options in a configuration file.
    private var places: [String: String] = [:]
    private var mayHaveOptions = true

    /// Parses words until `stop` returns true for a word.
    /// - Returns: the arguments, and the remaining words, starting with the one that stopped the parsing.
    static func read(
        _ line: ArraySlice<String>, options: [Option], stop: (String) -> Bool = { _ in false }
    ) throws -> (Arguments, rest: ArraySlice<String>) {
        var arguments = Arguments()
        var rest = line
        while let word = rest.first {
            if arguments.mayHaveOptions, word == "--" {
                arguments.mayHaveOptions = false
                rest.removeFirst()
            } else if arguments.mayHaveOptions, word.hasPrefix("-"), word != "-" {
                rest.removeFirst()
                try arguments.parseOption(word, &rest, options)
            } else if stop(word) {
                break
            } else {
                arguments.operands.append(word)
                rest.removeFirst()
            }
        }
        return (arguments, rest)
    }

    private mutating func parseOption(_ word: String, _ rest: inout ArraySlice<String>, _ options: [Option]) throws {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0] == "-h" ? "--help" : String(parts[0])
        guard let option = options.first(where: { $0.name == name }) else {
            throw Failure(.usage, "unknown option \(name)")
        }
        guard option.value != nil else {
            guard parts.count == 1 else { throw Failure(.usage, "\(name) takes no value") }
            flags.insert(name)
            return
        }
        guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
            throw Failure(.usage, "\(name) needs a value")
        }
        values[name, default: []].append(value)
    }

    func has(_ flag: String) -> Bool { flags.contains(flag) }
    /// The last value given for `name`; nil if missing.
    func value(_ name: String) -> String? { values[name]?.last }
    /// All values given for `name`.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    func isPresent(_ name: String) -> Bool { values[name] != nil || flags.contains(name) }

    /// Adds an option of a configuration file: a flag if there is no value.
    mutating func add(_ name: String, _ value: String?, from place: String) {
        if let value { values[name, default: []].append(value) } else { flags.insert(name) }
        places[name] = place
    }

    /// These options merged with later words and options, which have precedence.
    func merged(_ later: Arguments) -> Arguments {
        var all = later
        all.flags.formUnion(flags)
        all.values.merge(values) { later, earlier in earlier + later }
        return all
    }

    /// The whole number given for `name`; nil if missing.
    func integer(_ name: String, in range: ClosedRange<Int> = 0...Int.max) throws -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            let place = places[name]
            throw Failure(
                place == nil ? .usage : .badConfiguration,
                "\(place.map { "\($0): " } ?? "")\(name) takes a whole number \(bounds), not \"\(text)\"")
        }
        return number
    }

    /// Throws unless the number of words is in `range`.
    func expect(_ range: ClosedRange<Int>) throws {
        if operands.count < range.lowerBound { throw Failure(.usage, "too few arguments", isLost: true) }
        if operands.count > range.upperBound {
            throw Failure(.usage, "superfluous argument \"\(operands[range.upperBound])\": quotes keep words together")
        }
    }
}
