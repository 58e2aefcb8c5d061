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
