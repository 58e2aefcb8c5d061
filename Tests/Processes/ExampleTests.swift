import Foundation
import KalijLab
import TestSupport
import Testing

/// "An example app in `Examples/` that is killed between question and answer", as in the example's README.
@Suite(.serialized) struct ExampleTests {
    private struct App {
        let executable: String
        let data: String

        func begun(_ arguments: [String]) throws -> Running {
            var launch = Launch(executable: executable)
            launch.arguments = [data] + arguments
            launch.environment = ["QUESTION_PASSWORD": "secret"]
            return try Running(launch)
        }

        func callAsFunction(_ arguments: String...) throws -> [String] {
            let running = try begun(arguments)
            let ending = running.process.ended()
            let errors = try running.errors
            #expect(ending == .exited(0), "\(arguments): \(errors)")
            return try running.lines
        }
    }

    private func app(_ laboratory: Laboratory) throws -> App {
        App(
            executable: try #require(
                ProcessInfo.processInfo.environment["KALIJ_EXAMPLE"],
                "KALIJ_EXAMPLE names the example; `make test` builds it and sets this"),
            data: laboratory.path("alice"))
    }

    @Test(
        "killed between question and answer: the next process gets the answer, with the bound values",
        arguments: LongForm.servers)
    func killed(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let app = try app(laboratory)
        let server = try await startedServer(kind, in: laboratory)
        #expect(
            try app("login", "alice@localhost", "127.0.0.1:\(server.port)", server.certificateAuthority) == [
                "logged in"
            ])
        let bob = try await Peer("bob", password: "secret", server: server, laboratory: laboratory)
            .answering(resource: "peer", isHeld: true)

        let question = "<question xmlns='urn:example:question' number='7'/>"
        let asking = try app.begun(["ask", "bob@localhost/peer", "breakfast", question])
        #expect(try await until { try bob.events().contains { $0.event == "asked" } })
        _ = asking.end(SIGKILL)
        #expect(try asking.output == "asked\nonline\n")
        #expect(try app("answers") == [])
        try bob.answer()
        #expect(try await until { try bob.events().contains { $0.event == "answered" } })

        let answer = "breakfast, asked of bob@localhost/peer: \(question)"
        let (waited, answers) = (try app("wait"), try app("answers"))
        #expect(waited == ["online again", answer], "\(waited)")
        #expect(answers == [answer], "\(answers)")
        #expect(try bob.events().count { $0.event == "asked" } == 1)
        await bob.quit()
    }
}
