import KalijAddress
import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A change of the password: whatever happens, the account logs in with the password that counts.
struct PasswordTests {
    private let harness: StepHarness

    init() throws { harness = try StepHarness.caughtUp() }

    private var table: AccountTable { AccountTable(harness.database) }
    private func logins() throws -> AccountTable.Logins { try #require(try table.logins(of: harness.account.id)) }
    private func outcome() throws -> AccountTable.ChangeOutcome { try table.lastChange(of: harness.account) }

    private func change(to password: String = "new") throws {
        _ = try harness.perform { try $0.changePassword(to: password) }
    }

    /// The stanzas that a connection writes now.
    private func sent() throws -> [String] { try harness.write().map { String(decoding: $0.stanza, as: UTF8.self) } }

    private func request() throws -> String {
        try #require(
            try harness.database.prepare("SELECT id FROM request WHERE name LIKE 'registration.%'").first { $0.text() })
    }

    private func answer(_ xml: String, from: String = "example.org") throws {
        try harness.receive("<iq id='\(try request())' from='\(from)' \(xml)")
    }

    private static let refusal =
        "type='error'><error type='modify'><not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>"

    private static func login(_ keys: SCRAMKeys? = nil) -> SuccessfulAuthentication {
        SuccessfulAuthentication(
            mechanism: keys?.mechanism ?? .plain, keys: keys, pins: DowngradePins(mechanism: keys?.mechanism ?? .plain))
    }

    @Test("the request goes to the server, and its answer decides")
    func answered() throws {
        try change()
        let sent = try sent().joined()
        #expect(sent.contains("<username>juliet</username><password>new</password>"))
        #expect(sent.contains("to='example.org'"))
        #expect(try outcome() == .unknown)
        #expect(try logins().stored == .password("secret"))
        #expect(try logins().new == .password("new"))
        try answer("type='result'/>")
        #expect(try outcome() == .done)
        #expect(try (logins().stored, logins().new) == (.password("new"), nil))
    }

    @Test(
        "a second wish leaves the first request in the queue, so that the server's count acknowledges no later message")
    func counted() throws {
        try change()
        _ = try harness.write()
        try change()
        #expect(try sent().count { $0.contains("jabber:iq:register") } == 2)
        #expect(try harness.number("SELECT count(*) FROM request WHERE name = 'registration.password'") == 1)
    }

    @Test("a refusal leaves the old password")
    func refused() throws {
        try change()
        _ = try harness.write()
        try answer(Self.refusal)
        guard case .refused(let words) = try outcome() else { throw StoreError(.other, "no refusal") }
        #expect(words.contains("not-acceptable"))
        #expect(try (logins().stored, logins().new) == (.password("secret"), nil))
    }

    @Test("an answer of a stranger changes nothing")
    func forged() throws {
        try change()
        _ = try harness.write()
        for stranger in ["mallory@example.net/x", "example.net", "juliet@example.org"] {
            try answer("type='result'/>", from: stranger)
        }
        #expect(try outcome() == .unknown)
    }

    @Test("a second wish for another password waits for the outcome of the first")
    func twice() throws {
        try change()
        #expect(throws: PasswordError.self) { try change(to: "third") }
        try change()
        // The first stays in the queue; both say the same.
        #expect(try sent().count { $0.contains("jabber:iq:register") } == 2)
        for password in ["", "a\nb", "\u{0}"] {
            #expect(throws: PasswordError.self) { try change(to: password) }
        }
    }

    /// What the server knows, and how far we got.
    @Test(
        "killed at any commit: the next login shows which password counts",
        arguments: [
            "queued", "sent", "applied", "session lost", "applied, session lost", "timeout", "applied, timeout",
        ])
    func killed(_ when: String) throws {
        try change()
        if when != "queued" { _ = try harness.write() }
        if when.contains("timeout") {
            _ = try harness.steps.expire(.all, until: .max)
        }
        let server = when.contains("applied") ? Credentials.password("new") : .password("secret")
        // Another process: nothing but the database is left.
        var choice = PasswordCandidate()
        var tries = 0
        while try choice.credentials(logins()) != server {
            let isOther = try choice.refused(logins())
            #expect(isOther, "\(when)")
            tries += 1
            try #require(tries < 3)
        }
        _ = try harness.steps.loggedIn(withNewPassword: choice.isNew, Self.login())
        if when.contains("session lost") { try harness.bind(answered: .all) }
        // The login of a second session.
        choice = PasswordCandidate()
        if try choice.credentials(logins()) != server {
            let isOther = try choice.refused(logins())
            #expect(isOther)
            let other = try choice.credentials(logins())
            #expect(other == server)
        }
        _ = try harness.steps.loggedIn(withNewPassword: choice.isNew, Self.login())
        #expect(try logins().stored == server)
        // Only a request on its way may still change the password.
        #expect(try (logins().new == nil) == (when != "queued" && when != "sent"))
    }

    @Test("a request that never left is sent in the next session")
    func later() throws {
        try change()
        _ = try harness.steps.loggedIn(withNewPassword: false, Self.login())
        try harness.bind(answered: .all)
        #expect(try sent().joined().contains("<password>new</password>"))
        try answer("type='result'/>")
        #expect(try logins().stored == .password("new"))
    }

    @Test("the keys of the next login take the place of the new password")
    func keys() throws {
        try change()
        _ = try harness.write()
        try answer("type='result'/>")
        let keys = SCRAMKeys(mechanism: .scramSHA1, salt: [1], iterations: 4096, clientKey: [2], serverKey: [3])
        _ = try harness.steps.loggedIn(withNewPassword: false, Self.login(keys))
        #expect(try logins().stored == .keys(keys))
        #expect(try harness.steps.loggedIn(withNewPassword: false, Self.login(keys)) == nil)
    }

    @Test("both passwords refused is a refusal, and another connection tries both again")
    func neither() throws {
        try change()
        var choice = PasswordCandidate()
        let logins = try logins()
        var tried = [choice.credentials(logins)]
        var goesOn = [choice.refused(logins)]
        tried.append(choice.credentials(logins))
        goesOn.append(choice.refused(logins))
        tried.append(choice.credentials(logins))
        goesOn.append(choice.refused(AccountTable.Logins(stored: .password("secret"))))
        #expect(tried == [.password("secret"), .password("new"), .password("secret")])
        #expect(goesOn == [true, false, false])
    }

    @Test("a logout forgets both passwords, a login too")
    func forgotten() throws {
        try change()
        _ = try harness.logoutSteps.logOut(removing: false)
        #expect(try logins().new == nil)
    }

    // MARK: The removal

    private func unregister() throws {
        _ = try harness.perform { try $0.unregister() }
        #expect(try sent().joined().contains("<query xmlns='jabber:iq:register'><remove/></query>"))
    }

    private func state() throws -> Account.State { try table.account(nil, in: harness.directory).state }

    @Test("the server's answer decides on the removal")
    func removed() throws {
        try unregister()
        #expect(try outcome() == .unknown)
        try answer(Self.refusal, from: "juliet@example.org")
        guard case .refused = try outcome() else { throw StoreError(.other, "no refusal") }
        #expect(try state() == .active)
        try unregister()
        try answer("type='result'/>", from: "juliet@example.org")
        #expect(try outcome() == .done)
        #expect(try state() == .removing)
    }

    @Test("without an answer the next login decides; then the messages stay")
    func lostAnswer() throws {
        try unregister()
        try harness.steps.loginRefused()
        #expect(try state() == .leaving)
        #expect(try outcome() == .done)
    }

    @Test("a refused login before the request has left removes nothing; a login keeps the account")
    func stillThere() throws {
        _ = try harness.perform { try $0.unregister() }
        try harness.steps.loginRefused()
        #expect(try state() == .active)
        _ = try harness.write()
        try harness.bind(answered: .all)
        _ = try harness.steps.loggedIn(withNewPassword: false, Self.login())
        #expect(try state() == .active)
        guard case .refused = try outcome() else { throw StoreError(.other, "not known") }
    }
}
