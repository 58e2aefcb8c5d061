import Foundation
import KalijClient

/// The program around the feature: logs in, or stays online.
@main
enum CountingBot {
    static let usage = """
        usage: counting-bot DIRECTORY login JID [HOST:PORT CA-FILE]    with the password in BOT_PASSWORD
               counting-bot DIRECTORY run                              answers until SIGTERM or Ctrl-C
        """

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("counting-bot: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ words: [String]) throws {
        switch (words.dropFirst().first, words.count) {
        case ("login", 3), ("login", 5): try logIn(AccountDirectory(words[0]), words)
        case ("run", 2): try answer(in: AccountDirectory(words[0]))
        default: throw Usage()
        }
    }

    static func logIn(_ directory: AccountDirectory, _ words: [String]) throws {
        var server = ServerSettings()
        if words.count == 5 { server = ServerSettings(override: HostAndPort(words[3]), caFile: words[4]) }
        let password = ProcessInfo.processInfo.environment["BOT_PASSWORD"] ?? ""
        try directory.logIn(try JID(words[2]), password: password, resource: "bot", server: server)
    }

    static func answer(in directory: AccountDirectory) throws {
        var options = Engine.Options()
        options.features = [Counting.self]
        options.stopsOnSignals = true
        let engine = try Engine(directory, options: options) { event in
            switch event.content {
            case let online as Online: print(online.resumed ? "online again" : "online")
            case is CaughtUp: print("caught up")
            case let stored as MessageStored: print(stored.message.direction.rawValue, stored.message.body ?? "")
            default: break
            }
            fflush(nil)  // at once, also into a pipe
        }
        try engine.run()
    }

    struct Usage: Error, CustomStringConvertible { var description: String { CountingBot.usage } }
}
