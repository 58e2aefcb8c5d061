import KalijHandlers
import KalijStore
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A logout without a driver ends the session at the server if the server can be reached in a short time, and is done
/// in any case: "its waiting handlers invalidated exactly once".
@Suite(.serialized) struct LeavingTests {
    /// A directory with the session of a process that has ended, and a waiting timer.
    private func left(_ server: ScriptedServer) throws -> EngineFixture {
        let drive = try EngineFixture(server)
        try drive.run { _, event in event.content is Online }
        #expect(try drive.number("SELECT resume_id IS NOT NULL FROM session") == 1)
        try drive.directory.accept { step in
            try step.schedule(Log.Rung(text: "timer"), at: step.now + 1_000_000)
            try step.database.run("UPDATE account SET state = 'leaving'")
        }
        return drive
    }

    private func logOut(_ drive: EngineFixture, within seconds: Double = hangLimit, online: Bool = true) throws
        -> String?
    {
        var options = Engine.Options(timing: EngineFixture.timing)
        options.timing.logout = seconds
        options.features = [Log.self]
        let report = try Engine.logOutRequested(drive.directory, options: options, online: online)
        #expect(try drive.number("SELECT count(*) FROM account WHERE state = 'out' AND password IS NULL") == 1)
        #expect(try drive.number("SELECT count(*) FROM session WHERE resume_id IS NULL") == 1)
        #expect(try drive.number("SELECT let_go FROM fence") == 1)
        let log = try drive.database().prepare("SELECT text FROM log ORDER BY rowid").all { $0.text() }
        #expect(log == ["timer: logged out"])
        return report.unreached.values.first
    }

    @Test("a server that no longer has the session: there is no session to end, and no session is begun")
    func refused() throws {
        let server = try ScriptedServer("idle")
        let drive = try left(server)
        #expect(try logOut(drive) == nil)
        #expect(try drive.number("SELECT number FROM session") == 1)
    }

    @Test("a server that does not answer is not waited for longer than allowed")
    func silent() throws {
        let server = try ScriptedServer("idle")
        let drive = try left(server)
        server.stop()
        let silent = try ScriptedServer("silent")
        try drive.database().run("UPDATE account SET server = ?", [.text("127.0.0.1:\(silent.port)")])
        #expect(try logOut(drive, within: 1) == "no answer within 1 s")
    }

    @Test("no server at all: at once, with the reason; and offline without looking for one")
    func unreachable() throws {
        for online in [true, false] {
            let server = try ScriptedServer("idle")
            let drive = try left(server)
            server.stop()
            let problem = try logOut(drive, online: online)
            #expect(problem?.contains(online ? "127.0.0.1" : "not to be connected to") == true, "\(problem ?? "-")")
        }
    }

    @Test("an account that has no session is logged out without a connection")
    func nothing() throws {
        let server = try ScriptedServer("silent")
        let drive = try EngineFixture(server)
        try drive.directory.accept { step in
            try step.schedule(Log.Rung(text: "timer"), at: step.now + 1_000_000)
            try step.database.run("UPDATE account SET state = 'leaving'")
        }
        #expect(try logOut(drive) == nil)
    }

    @Test("an engine that drives without a connection logs out, too")
    func driving() throws {
        let server = try ScriptedServer("idle")
        let drive = try left(server)
        server.stop()
        var options = Engine.Options(timing: EngineFixture.timing)
        options.features = [Log.self]
        try Engine(drive.directory, options: options) { _ in }.run()
        #expect(try drive.number("SELECT count(*) FROM account WHERE state = 'out'") == 1)
        #expect(try drive.number("SELECT count(*) FROM log") == 1)
    }
}
