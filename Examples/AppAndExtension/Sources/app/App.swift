import Common
import Foundation
import KalijAddress
import KalijClient

/// The application: stays online while the user looks at the screen.
@main
enum App {
    static let usage = """
        usage: app DIRECTORY login JID [HOST:PORT CA-FILE]    with the password in APP_PASSWORD
               app DIRECTORY run                              stays online until SIGTERM
               app DIRECTORY share JID TEXT                   as a share extension would
               app DIRECTORY attach JID FILE                  as a share extension would with a picture
        """

    static func main() {
        // Before there are other threads: they would get the signals.
        SystemCallback.block()
        let (callbacks, told) = AsyncStream.makeStream(of: SystemCallback.self)
        Task.detached {
            await Common.run { try await run($0, callbacks) }
            exit(0)
        }
        SystemCallback.wait { told.yield($0) }
    }

    static func run(_ words: [String], _ callbacks: AsyncStream<SystemCallback>) async throws {
        let directory = try Common.directory(words)
        switch (words.dropFirst().first, words.count) {
        case ("login", 3), ("login", 5): try logIn(directory, words)
        case ("run", 2): try await stayOnline(directory, callbacks)
        case ("share", 4): try directory.share(words[3], to: try JID(words[2]))
        case ("attach", 4): try Attachments(directory).send(words[3], to: try JID(words[2]))
        default: throw Problem(usage)
        }
    }

    static func logIn(_ directory: AccountDirectory, _ words: [String]) throws {
        var server = ServerSettings()
        if words.count == 5 { server = ServerSettings(override: HostAndPort(words[3]), caFile: words[4]) }
        let password = ProcessInfo.processInfo.environment["APP_PASSWORD"] ?? ""
        try directory.logIn(try JID(words[2]), password: password, resource: "app", server: server)
    }

    static func stayOnline(_ directory: AccountDirectory, _ callbacks: AsyncStream<SystemCallback>) async throws {
        let engine = try await Engine.start(role: .main, in: directory)
        let showing = Task { await show(engine.events) }
        for await callback in callbacks {
            switch callback {
            case .willFreeze:
                try await engine.prepareForFreeze()
                Common.say("frozen")
                kill(getpid(), SIGSTOP)
            case .didThaw: engine.didThaw()
            case .terminate:
                try await engine.stop()
                await showing.value
                return
            }
        }
    }

    /// Messages, fetched by any process: messages stored by the extension are in the database; a real application reads
    /// them when its windows open.
    static func show(_ events: EngineEvents) async {
        for await event in events {
            switch event.content {
            case let online as Online: Common.say(online.resumed ? "online again" : "online")
            case let stored as MessageStored:
                if let body = stored.message.body { Common.say("\(stored.message.from): \(body)") }
            case let changed as MessageStateChanged:
                Common.say("\(changed.message.body ?? ""): \(changed.message.state?.rawValue ?? "")")
            case let upload as UploadChanged: Common.say("\(upload.file): \(upload.state)")
            default: break
            }
        }
    }
}
