import TestSupport
import Testing

@testable import KalijTransport

@Suite struct RouteTests {
    private func plan(_ starttls: Route.Services?, _ direct: Route.Services?) -> [Route] {
        var generator = Seeded(3)
        return Route.plan(domain: "example.org", starttls: starttls, direct: direct, using: &generator)
    }

    private func record(_ host: String, _ port: UInt16, _ priority: UInt16) -> ServiceRecord {
        ServiceRecord(host: host, port: port, priority: priority, weight: 1)
    }

    @Test("Both kinds of records are treated as the same with regard to order (XEP-0368 3)")
    func mixed() {
        let plan = plan(
            .success([record("a", 5222, 10), record("c", 5222, 30)]), .success([record("b", 443, 20)]))
        #expect(
            plan == [
                Route(host: "a", port: 5222, directTLS: false), Route(host: "b", port: 443, directTLS: true),
                Route(host: "c", port: 5222, directTLS: false),
            ])
    }

    @Test("Within a priority direct TLS comes first, each kind by weight (XEP-0368 3: clients MAY prefer a kind)")
    func directFirst() {
        var generator = Seeded(9)
        let starttls = [record("a", 5222, 10), record("b", 5222, 10), record("first", 5222, 1)]
        let direct = [record("c", 443, 10), record("d", 443, 10), record("last", 443, 20)]
        var seconds: [String: Int] = [:]
        for _ in 0..<1000 {
            let plan = Route.plan(
                domain: "example.org", starttls: .success(starttls), direct: .success(direct), using: &generator)
            #expect(plan.map(\.directTLS) == [false, true, true, false, false, true])
            #expect(plan.first?.host == "first" && plan.last?.host == "last")
            seconds[plan[1].host, default: 0] += 1
        }
        #expect(Set(seconds.keys) == ["c", "d"])
        // A number from 0 to the sum, 2: the first takes 0 and 1.
        #expect((600...730).contains(seconds["c"] ?? 0))
    }

    @Test("Without records, or without an answer, the domain itself on port 5222 (RFC 6120 3.2.2)")
    func fallback() {
        let domain = [Route(host: "example.org", port: 5222, directTLS: false)]
        #expect(plan(.failure(.noRecords), .failure(.noSuchName)) == domain)
        #expect(plan(.failure(.noAnswer("")), nil) == domain)
        #expect(plan(nil, .failure(.noRecords)) == [Route(host: "example.org", port: 5223, directTLS: true)])
    }

    @Test("A target of \".\" means not offered, and no falling back (RFC 2782, XEP-0368 5)")
    func notOffered() {
        let dot = record("", 0, 0)
        #expect(plan(.success([dot]), .failure(.noRecords)).isEmpty)
        #expect(plan(.failure(.noRecords), .success([dot])).isEmpty)
        #expect(
            plan(.success([record("a", 5222, 1)]), .success([dot]))
                == [Route(host: "a", port: 5222, directTLS: false)])
    }
}
