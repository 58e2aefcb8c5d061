import Foundation
import KalijClient

/// An application with questions that survive its death.
@main
enum Question {
    static let usage = """
        usage: question DIRECTORY login JID [HOST:PORT CA-FILE]     with the password in QUESTION_PASSWORD
               question DIRECTORY ask JID PURPOSE XML               asks, and waits for the answer
               question DIRECTORY wait                              waits for what was asked before
               question DIRECTORY answers                           what came so far
        """

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("question: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ words: [String]) throws {
        guard words.count >= 2 else { throw Usage() }
        let directory = AccountDirectory(words[0])
        switch (words[1], words.count) {
        case ("login", 3), ("login", 5): try logIn(directory, words)
        case ("ask", 5):
            try ask(directory, whom: try JID(words[2]), purpose: words[3], payload: try Element.parse(words[4]))
            try wait(directory)
        case ("wait", 2): try wait(directory)
        case ("answers", 2): try Answers.all(in: directory).forEach { print($0) }
        default: throw Usage()
        }
    }

    static func logIn(_ directory: AccountDirectory, _ words: [String]) throws {
        var server = ServerSettings()
        if words.count == 5 { server = ServerSettings(override: HostAndPort(words[3]), caFile: words[4]) }
        let password = ProcessInfo.processInfo.environment["QUESTION_PASSWORD"] ?? ""
        try directory.logIn(try JID(words[2]), password: password, resource: "question", server: server)
        print("logged in")
    }

    /// Commits the question and its handler. When this function returns both are on the disk: whatever happens to this
    /// process, the question is sent, and the answer finds the handler.
    static func ask(_ directory: AccountDirectory, whom: JID, purpose: String, payload: Element) throws {
        try directory.accept { step in
            try step.send(
                .request(.get, payload, to: whom), then: Answered(whom: whom.description, purpose: purpose),
                within: .seconds(600))
        }
        say("asked")
    }

    /// Drives the account until nothing waits any more.
    static func wait(_ directory: AccountDirectory) throws {
        let before = try Answers.all(in: directory).count
        var options = Engine.Options(role: .background)
        options.features = [Answers.self]
        options.mayEnd = { try !Answers.areAwaited(in: directory) }
        let engine = try Engine(directory, options: options) { event in
            if let online = event.content as? Online { say(online.resumed ? "online again" : "online") }
        }
        try engine.run()
        try Answers.all(in: directory).dropFirst(before).forEach { print($0) }
    }

    /// At once, also into a pipe: this process may be killed at any moment.
    static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    struct Usage: Error, CustomStringConvertible { var description: String { Question.usage } }
}
