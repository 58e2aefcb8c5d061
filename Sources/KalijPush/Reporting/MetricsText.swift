/// Metrics in Prometheus' text format (version 0.0.4). No label ever holds a token or a domain.
struct MetricsText {
    private(set) var text = ""

    /// Begins a family of metrics.
    mutating func family(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: some CustomStringConvertible) {
        let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += list.isEmpty ? "\(name) \(value)\n" : "\(name){\(list)} \(value)\n"
    }

    mutating func single(_ name: String, _ kind: String, _ help: String, _ value: some CustomStringConvertible) {
        family(name, kind, help)
        sample(name, [], value)
    }

    mutating func histogram(_ name: String, _ labels: [(String, String)], _ histogram: Histogram) {
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            sample(name + "_bucket", labels + [("le", "\(bound)")], count)
        }
        sample(name + "_bucket", labels + [("le", "+Inf")], histogram.count)
        sample(name + "_sum", labels, histogram.sum)
        sample(name + "_count", labels, histogram.count)
    }

    private static func escaped(_ value: String) -> String {
        var result = ""
        for character in value {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
        return result
    }
}
