import KalijAddress
import KalijLab
import KalijStore
import KalijStream
import KalijTransport
import KalijXML
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijCore
@testable import KalijEngine
@testable import KalijFeatures

/// Changes of an account whose outcome is awaited.
@Suite(.serialized) struct AccountChangeTests {
    private let drive: EngineFixture
    private let server: ScriptedServer
    private let juliet: JID

    init() throws {
        server = try ScriptedServer("idle")
        drive = try EngineFixture(server)
        juliet = try JID("juliet@localhost")
    }

    private func start() async throws -> RunningEngine {
        try await Engine.start(role: .main, in: drive.directory, options: Engine.Options(timing: EngineFixture.timing))
    }

    /// Gives the server's answer to the password change in the driver, as its handler gets it.
    private func answer(isTaken: Bool, _ engine: RunningEngine) async throws {
        try await engine.perform { step in
            let iq = Element("iq")
            try PasswordChangeResponse().call(
                isTaken ? .result(iq) : .error(StanzaError(.notAcceptable), iq), in: step)
        }
    }

    @Test("a change of the password without a driver waits for nothing")
    func undriven() async throws {
        #expect(try await drive.directory.changePassword(of: juliet, to: "new") == .unknown)
        #expect(try AccountTable(drive.directory.read()).logins(of: 1)?.new == .password("new"))
    }

    @Test("the outcome of a change of the password ends the wait; so does the time, and a cancellation")
    func password() async throws {
        let engine = try await start()
        let directory = drive.directory
        // The server says nothing.
        #expect(try await directory.changePassword(of: juliet, to: "new", within: .milliseconds(50)) == .unknown)
        let waiting = Task { [juliet] in try await directory.changePassword(of: juliet, to: "new") }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let before = try requestID()
        let taken = Task { [juliet] in try await directory.changePassword(of: juliet, to: "new") }
        while try requestID() == before { try await sleep(for: .milliseconds(5)) }
        try await answer(isTaken: true, engine)
        #expect(try await taken.value == .done)
        let first = try requestID()
        let refused = Task { [juliet] in try await directory.changePassword(of: juliet, to: "newer") }
        while try requestID() == first { try await sleep(for: .milliseconds(5)) }
        try await answer(isTaken: false, engine)
        guard case .refused(let words) = try await refused.value else { throw StoreError(.other, "not refused") }
        #expect(words.contains("not-acceptable"))
        try await engine.stop()
    }

    /// A repeated request has another id.
    private func requestID() throws -> String? {
        try drive.directory.read().prepare("SELECT id FROM request WHERE name = 'registration.password'")
            .first { $0.text("id") }
    }

    @Test("a logout ends the wait when the driver has logged out", arguments: [false, true])
    func logout(removing: Bool) async throws {
        let engine = try await start()
        #expect(try await drive.directory.logOut(juliet, removing: removing, within: .seconds(hangLimit)))
        let account = try AccountTable(drive.directory.read()).all().first
        #expect(account?.state == (removing ? nil : .out))
        _ = try? await engine.waitUntilEnded()
        // Logged out already.
        #expect(try await drive.directory.logOut(juliet, removing: false))
    }
}
