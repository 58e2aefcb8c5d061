import TestSupport
import Testing

@testable import KalijTransport

@Suite struct ServiceRecordTests {
    private func record(_ host: String, _ priority: UInt16, _ weight: UInt16) -> ServiceRecord {
        ServiceRecord(host: host, port: 5222, priority: priority, weight: weight)
    }

    @Test("A client MUST attempt to contact the target host with the lowest-numbered priority it can reach (RFC 2782)")
    func priorities() {
        var generator = Seeded(7)
        let records = [record("c", 30, 0), record("a", 10, 1), record("b", 20, 65535), record("z", 0, 0)]
        for _ in 0..<100 {
            #expect(ServiceRecord.ordered(records, using: &generator).map(\.host) == ["z", "a", "b", "c"])
        }
    }

    @Test("Larger weights SHOULD be given a proportionately higher probability of being selected (RFC 2782)")
    func weights() {
        var generator = Seeded(42)
        let records = [record("0", 1, 0), record("10", 1, 10), record("30", 1, 30), record("60", 1, 60)]
        let rounds = 40_000
        var first: [String: Int] = [:]
        var second: [String: Int] = [:]
        for _ in 0..<rounds {
            let order = ServiceRecord.ordered(records, using: &generator)
            #expect(Set(order.map(\.host)).count == 4)
            first[order[0].host, default: 0] += 1
            if order[0].host == "60" { second[order[1].host, default: 0] += 1 }
        }
        // A number from 0 to the sum, both included: weight 0 is drawn by the 0 alone.
        for (host, weight) in [("0", 1.0), ("10", 10), ("30", 30), ("60", 60)] {
            #expect(abs(Double(first[host] ?? 0) / Double(rounds) - weight / 101) < 0.01)
        }
        // Among the rest, the chances are the shares again.
        let total = Double(first["60"] ?? 1)
        for (host, weight) in [("0", 1.0), ("10", 10), ("30", 30)] {
            #expect(abs(Double(second[host] ?? 0) / total - weight / 41) < 0.015)
        }
    }

    @Test("Records of weight 0 only: each is reached, none is lost")
    func zeroes() {
        var generator = Seeded(1)
        let records = ["a", "b", "c"].map { record($0, 1, 0) }
        #expect(Set(ServiceRecord.ordered(records, using: &generator).map(\.host)) == ["a", "b", "c"])
        #expect(ServiceRecord.ordered([], using: &generator).isEmpty)
    }
}
