import KalijAddress
import KalijCoordination
import KalijLab
import KalijStore
import KalijTransport
import Synchronization
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijCore

/// Registrations from a task, at a scripted server that asks a riddle (see `Registrar` in scripted.py).
@Suite(.serialized) struct AccountRegistrationTests {
    private let scratch: ScratchDirectory
    private let directory: AccountDirectory
    private let script: ScriptedServer
    private let server: ServerSettings

    init() throws {
        scratch = try ScratchDirectory()
        directory = AccountDirectory(scratch.file("data"))
        script = try ScriptedServer("register")
        server = ServerSettings(
            override: HostAndPort("127.0.0.1:\(script.port)"), directTLS: true,
            caFile: try ScriptedServer.Identity.shared.get().certificate)
    }

    private var accounts: [String] {
        get throws { directory.exists ? try AccountTable(directory.read()).all().map(\.jid.description) : [] }
    }

    /// The answer to the riddle of a form is its picture.
    private static func account(_ user: String, _ form: RegistrationForm, riddle: String? = nil) throws -> NewAccount {
        let field = try #require(form.fields.first)
        let picture = try #require(form.picture(of: field))
        return NewAccount(
            try JID("\(user)@localhost"), password: "secret",
            values: ["ocr": [riddle ?? String(decoding: picture, as: UTF8.self)]])
    }

    private func register(
        _ registration: AccountRegistration? = nil, _ answer: @escaping AccountRegistration.Answering
    ) async throws -> String {
        let registration = registration ?? AccountRegistration(at: "localhost", server: server)
        return try await directory.addAccount(registration, resource: "test", answer: answer).description
    }

    @Test("a form with a picture is answered, and the account is stored with its login")
    func stored() async throws {
        let made = try await register { form, refusal in
            #expect(refusal == nil)
            #expect(form.parts.map(\.effectiveType) == [.fixed, .textSingle])
            return try Self.account("juliet", form)
        }
        #expect(made == "juliet@localhost")
        #expect(try accounts == ["juliet@localhost"])
    }

    @Test("a wrong answer, and a taken address, are asked for again with the reason and another riddle")
    func again() async throws {
        let refusals = Mutex<[RegistrationError?]>([])
        let made = try await register { form, refusal in
            refusals.withLock { $0.append(refusal) }
            switch refusals.withLock({ $0.count }) {
            case 1: return try Self.account("juliet", form, riddle: "no idea")
            case 2: return try Self.account("taken", form)
            default: return try Self.account("juliet", form)
            }
        }
        #expect(made == "juliet@localhost")
        let told = refusals.withLock { $0 }
        try #require(told.count == 3)
        #expect(told[0] == nil)
        guard case .refused(let error)? = told[1] else {
            Issue.record("not refused: \(told)")
            return
        }
        #expect(error.condition == .notAllowed)
        #expect(told[2]?.isTaken == true)
    }

    @Test("a connection that ended while the form was filled in is followed by another, with another riddle")
    func expired() async throws {
        let refusals = Mutex<[RegistrationError?]>([])
        let made = try await register { form, refusal in
            refusals.withLock { $0.append(refusal) }
            return try Self.account("closing", form)
        }
        #expect(made == "closing@localhost")
        #expect(refusals.withLock { $0 } == [nil, .expired])
    }

    @Test("an account whose confirmation was lost is logged in to by the next attempt")
    func lost() async throws {
        let made = try await register { form, _ in try Self.account("lost", form) }
        #expect(made == "lost@localhost")
        #expect(try accounts == ["lost@localhost"])
    }

    @Test("an unknown invitation ends the registration; a known one makes the inviter a contact")
    func invited() async throws {
        let link = "xmpp:romeo@localhost?roster;preauth=TOKEN;ibr=y;name=Romeo"
        func registration(_ token: String) throws -> AccountRegistration {
            let invitation = try #require(InvitationLink(link.replacing("TOKEN", with: token)))
            return AccountRegistration(invitation, server: server)
        }
        await #expect(throws: RegistrationError.self) {
            try await register(registration("other")) { form, _ in try Self.account("juliet", form) }
        }
        #expect(try accounts == [])
        let made = try await register(registration("T")) { form, _ in try Self.account("juliet", form) }
        #expect(made == "juliet@localhost")
        // Without a driver the request is in the mailbox.
        let mailbox = try Database(reading: Mailbox.databasePath(in: directory.path))
        let parcel = try mailbox.prepare("SELECT payload FROM parcel").first {
            String(decoding: $0.blob("payload"), as: UTF8.self)
        }
        #expect(parcel?.contains("romeo@localhost") == true)
    }

    @Test("a task that is cancelled while the user fills in the form ends at once, and cancels the prompt")
    func cancelled() async throws {
        let (asked, prompting) = AsyncStream.makeStream(of: Void.self)
        let (ended, ending) = AsyncStream.makeStream(of: Bool.self)
        let (directory, registration) = (directory, AccountRegistration(at: "localhost", server: server))
        let making = Task {
            try await directory.addAccount(registration, resource: "test") { _, _ in
                prompting.yield()
                do { try await Task.sleep(for: .seconds(3600)) } catch {
                    ending.yield(Task.isCancelled)
                    throw error
                }
                throw CancellationError()
            }
        }
        for await _ in asked { break }
        making.cancel()
        await #expect(throws: CancellationError.self) { try await making.value }
        for await isCancelled in ended {
            #expect(isCancelled)
            break
        }
        #expect(try accounts == [])
        #expect(try script.line() == "closed")
    }

    @Test(
        "links are read as what they invite to",
        arguments: [
            ("xmpp:example.org?register;preauth=T", "example.org", nil, nil, true),
            ("xmpp:juliet@example.org?register;preauth=T", "example.org", "juliet@example.org", nil, true),
            ("xmpp:romeo@example.org?roster;preauth=T;ibr=y", "example.org", nil, "romeo@example.org", true),
            ("xmpp:romeo@example.org?roster;preauth=T", "example.org", nil, "romeo@example.org", false),
        ] as [(String, String, String?, String?, Bool)])
    func links(_ link: String, _ domain: String, _ account: String?, _ inviter: String?, _ makes: Bool) throws {
        let invitation = try #require(InvitationLink(link))
        #expect(invitation.domain == domain)
        #expect(invitation.account?.description == account)
        #expect(invitation.inviter?.description == inviter)
        #expect(invitation.token == "T")
        #expect(invitation.makesAccount == makes)
    }

    @Test(
        "other links are no invitations",
        arguments: [
            "xmpp:romeo@example.org", "xmpp:romeo@example.org?join", "xmpp:example.org?roster;preauth=T",
            "https://example.org/invite/#T",
        ])
    func noInvitations(_ link: String) { #expect(InvitationLink(link) == nil) }
}
