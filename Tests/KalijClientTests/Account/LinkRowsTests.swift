import KalijStore
import KalijStream
import KalijTransport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijCore

/// What is stored of the ways to a server: addresses, tokens, tickets.
struct LinkRowsTests {
    private let harness: StepHarness
    private var account: Int64 { harness.account.id }
    private var database: Database { harness.database }
    private var logins: LoginSteps { LoginSteps(runner: harness.runner, account: harness.account) }

    init() throws { harness = try StepHarness() }

    private func endpoint(_ host: String = "a.example.org", port: UInt16 = 5223) -> Endpoint {
        Endpoint(host: host, address: "192.0.2.1", port: port, directTLS: true)
    }

    @Test("an address keeps what its server offers, beside the link; another port is another server")
    func learning() throws {
        #expect(try logins.known(endpoint()) == nil)
        var server = KnownServer()
        server.offersTLS = true
        try logins.learned(server, at: endpoint())
        let measure = LinkMeasurement(roundTrip: 0.5, variation: 0.125, bytesPerSecond: 4000)
        let cost = EndpointRow.LoginCost(sent: 1000, received: 5000, milliseconds: 2800)
        try logins.reached(endpoint(), measure, cost)
        let row = try #require(try logins.known(endpoint()))
        #expect(row.server == server && row.link == measure && row.lastLogin == cost && row.endpoint == endpoint())
        #expect(try logins.known(endpoint(port: 5222)) == nil)
        try logins.reached(endpoint(), LinkMeasurement(), cost)
        #expect(try logins.known(endpoint())?.link == measure, "a connection without a measure forgets none")
    }

    @Test("what a newer version has stored of a server is forgotten, and nothing fails")
    func unreadable() throws {
        try logins.learned(KnownServer(), at: endpoint())
        try database.execute("UPDATE endpoint SET server = x'ff00'")
        #expect(try logins.known(endpoint())?.server == KnownServer())
    }

    @Test("sixteen addresses are kept, the last used")
    func bounded() throws {
        let cost = EndpointRow.LoginCost(sent: 1, received: 1, milliseconds: 1)
        for number in 0..<40 {
            harness.clock.move(by: 1000)
            try logins.reached(endpoint("\(number).example.org"), LinkMeasurement(), cost)
        }
        let count = try database.prepare("SELECT count(*) FROM endpoint").first { $0.integer() }
        #expect(count == 16)
        #expect(try EndpointRow.last(of: account, in: database)?.endpoint.host == "39.example.org")
    }

    @Test("the address that worked is gone to at once for a day; then the DNS is asked again")
    func remembered() throws {
        let cost = EndpointRow.LoginCost(sent: 1, received: 1, milliseconds: 1)
        try logins.reached(endpoint(), LinkMeasurement(), cost)
        #expect(try logins.approach().remembered == endpoint())
        harness.clock.move(by: 23 * 3600 * 1000)
        try logins.reached(endpoint(), LinkMeasurement(), cost, isFound: false)
        #expect(try logins.approach().remembered == endpoint())
        harness.clock.move(by: 3600 * 1000)
        #expect(try logins.approach().remembered == nil, "a use does not renew what the DNS has said")
        try logins.reached(endpoint(), LinkMeasurement(), cost)
        #expect(try logins.approach().remembered == endpoint())
        harness.clock.set(by: -3600 * 1000)
        #expect(try logins.approach().remembered == nil, "a clock that was set back knows nothing")
    }

    private func token(_ secret: String) -> FASTToken {
        FASTToken(mechanism: "HT-SHA-256-EXPR", secret: secret, expiry: 5, count: 0)
    }

    @Test(
        "a count is committed before each attempt, and is used once; the token before a new one stays until the new one worked"
    )
    func tokens() throws {
        #expect(try logins.approach().tokens.isEmpty)
        try logins.store(token("one"))
        #expect(try logins.approach().tokens.map(\.count) == [1])
        #expect(try logins.approach().tokens.map(\.count) == [2])
        try logins.store(token("two"))
        #expect(try logins.approach().tokens.map(\.secret) == ["two", "one"])
        try logins.store(token("three"))
        #expect(try logins.approach().tokens.map(\.secret) == ["three", "two"], "at most two")
        let login = SuccessfulAuthentication(
            mechanism: .plain, keys: nil, pins: DowngradePins(mechanism: .plain), usedToken: token("three"))
        _ = try harness.steps.loggedIn(withNewPassword: false, login)
        #expect(try logins.approach().tokens.map(\.secret) == ["three"])
        try logins.refused(token("three"))
        #expect(try logins.approach().tokens.isEmpty)
    }

    @Test("the name of the client is made once")
    func userAgent() throws {
        let first = try #require(try logins.approach().userAgent)
        #expect(try logins.approach().userAgent == first)
        #expect(first.utf8.count == 36)
    }

    @Test("a ticket is used once; after a refusal the next is tried after a week")
    func tickets() throws {
        #expect(try logins.approach().wantsTicket)
        try logins.store(ticket: [1, 2])
        #expect(try logins.approach().ticket == [1, 2])
        #expect(try logins.approach().ticket == nil)
        try logins.ticketOffered(isTaken: true)
        try logins.store(ticket: [3])
        #expect(try logins.approach().ticket == [3])
        try logins.ticketOffered(isTaken: false)
        try logins.store(ticket: [4])
        let refused = try logins.approach()
        #expect(refused.ticket == nil && !refused.wantsTicket)
        harness.clock.move(by: 7 * 24 * 3600 * 1000)
        #expect(try logins.approach().ticket == [4])
    }

    @Test("logging out forgets tokens, tickets and the client's name; removing the account forgets everything")
    func loggedOut() throws {
        try logins.store(token("one"))
        try logins.store(ticket: [1])
        try logins.learned(KnownServer(), at: endpoint())
        let name = try logins.approach().userAgent
        _ = try harness.logoutSteps.logOut(removing: false)
        let after = try logins.approach()
        #expect(after.tokens.isEmpty && after.ticket == nil && after.userAgent != name)
        _ = try harness.logoutSteps.logOut(removing: true)
        for table in ["endpoint", "login_token", "tls_ticket"] {
            let sql = "SELECT count(*) FROM \(table)"
            #expect(try database.prepare(sql).first { $0.integer() } == 0)
        }
    }

    @Test("pins of a login are the account's from then on")
    func pins() throws {
        let pins = DowngradePins(mechanism: .scramSHA256, binding: .tlsExporter, isSASL2: true)
        let login = SuccessfulAuthentication(mechanism: .scramSHA256, keys: nil, pins: pins, usedToken: nil)
        _ = try harness.steps.loggedIn(withNewPassword: false, login)
        #expect(try logins.approach().pins == pins)
        #expect(try AccountTable(database).all().first?.pins == pins)
        #expect(try harness.steps.loggedIn(withNewPassword: false, login) == nil, "nothing new, no commit")
    }
}
