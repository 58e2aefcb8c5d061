/// A host of a SRV record (RFC 2782).
struct ServiceRecord: Equatable, Sendable {
    /// Without the final dot; empty where the record indicates that the service is not offered.
    var host: String
    var port: UInt16
    var priority: UInt16
    var weight: UInt16
    /// Whether the record is from `_xmpps-client` (XEP-0368).
    var directTLS = false
}

extension ServiceRecord {
    /// The order in which to try records: by priority; within a priority those of direct TLS first, which saves a round
    /// trip (XEP-0368 3 leaves the choice to the client); among the rest drawn at random, the chance of each being its
    /// share of the weight (RFC 2782, "Weight").
    ///
    /// - Parameters:
    ///   - records: the records of all requested services, mixed.
    ///   - random: draws from `0...upper`.
    /// - Returns: all records.
    static func ordered(_ records: [ServiceRecord], random: (_ upper: Int) -> Int) -> [ServiceRecord] {
        Set(records.map(\.priority)).sorted().flatMap { priority in
            let equals = records.filter { $0.priority == priority }
            return drawn(equals.filter(\.directTLS), random) + drawn(equals.filter { !$0.directTLS }, random)
        }
    }

    private static func drawn(_ records: [ServiceRecord], _ random: (_ upper: Int) -> Int) -> [ServiceRecord] {
        var result: [ServiceRecord] = []
        // Records of weight 0 are first, and so have a small chance of being drawn.
        var left = records.filter { $0.weight == 0 } + records.filter { $0.weight != 0 }
        while !left.isEmpty {
            let mark = random(left.reduce(0) { $0 + Int($1.weight) })
            var sum = 0
            let index = left.firstIndex { record in
                sum += Int(record.weight)
                return sum >= mark
            }
            result.append(left.remove(at: index ?? left.startIndex))
        }
        return result
    }

    /// The same, drawn from a generator.
    static func ordered(
        _ records: [ServiceRecord], using generator: inout some RandomNumberGenerator
    ) -> [ServiceRecord] {
        ordered(records) { Int.random(in: 0...$0, using: &generator) }
    }
}
