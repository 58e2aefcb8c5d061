import Foundation
import Glibc
import KalijLab
import KalijPushLab
import Testing

/// From a message in a room to the printed notification, on both servers: `kalij`, a real server, `kalij-push`, `kalij
/// wake`. Only Apple and Google are stand-ins; the phone takes a push and connects to the socket of `kalij wake --listen`.
@Suite("Push and rooms, end to end", .serialized) struct RoomPushTests {
    private static let room = "orchard@conference.localhost"
    private static let rounds = Int(ProcessInfo.processInfo.environment["PUSH_ROUNDS"] ?? "") ?? 10

    @Test(
        "case 38: a message in a room, a push, a wake, a notification, and the session goes on: again and again, also with another token, and with Google's"
    )
    func roomMessages() async throws {
        try await Phone.atEachServer { phone in
            for round in 0..<Self.rounds {
                if round == Self.rounds / 3 { try phone.enable("b") }
                if round == Self.rounds * 2 / 3 { try phone.enable("c", module: "google") }
                let text = "alice: round \(round)"
                try await phone.hibernated()
                try phone.say(text)
                try await phone.shows(text)
            }
            #expect(try await phone.resumptions() == 1, "\(phone.kind): the session was lost")
            let tokens = Set(phone.stage.taken.map { $0.prefix(1) })
            #expect(tokens == ["a", "b", "c"], "\(phone.kind)")
        }
    }

    @Test("case 39: the session expires; a message to the person wakes, push is enabled again, and rooms push again")
    func expired() async throws {
        try await Phone.atEachServer(resumeSeconds: 5) { phone in
            // After a push that wakes nobody the server keeps the session for its usual time.
            phone.isDeaf = true
            try await sleep(for: .seconds(1))
            try await phone.hibernated()
            let before = phone.stage.taken.count
            try phone.write("nobody wakes")
            try await phone.pushed(before + 1)
            let isGone = try await until { try phone.events("presence").contains { $0.type == "unavailable" } }
            #expect(isGone, "\(phone.kind): the session lives on")
            phone.isDeaf = false
            try phone.write("to the person")
            try await phone.shows("to the person")
            #expect(try await phone.resumptions() == 2)
            try await phone.hibernated()
            try phone.say("alice: in the room again")
            try await phone.shows("alice: in the room again")
        }
    }

    @Test("case 40: no push while a client is online; after a logout no push ever")
    func silence() async throws {
        try await Phone.atEachServer { phone in
            let run = try phone.world.kalij.running()
            try await run.event("online")
            #expect(try await until { try await phone.world.sql("SELECT state FROM room") == "joined\n" })
            try await sleep(for: .seconds(2))
            var published = try await phone.stage.metric("publishes_total")
            try phone.say("one")
            try phone.write("two")
            try await run.event("message") { $0["body"] as? String == "two" }
            try await sleep(for: .seconds(2))
            #expect(
                try await phone.stage.metric("publishes_total") == published, "\(phone.kind): pushed while online")
            #expect(run.end(SIGTERM).status == 0)
            // Between the client's end and the logout something may be pushed.
            let logout = try phone.world.kalij("logout", "alice@localhost")
            #expect(logout.status == 0, "\(phone.kind): \(logout)")
            published = try await phone.stage.metric("publishes_total")
            try phone.say("three")
            try phone.write("four")
            try await sleep(for: .seconds(3))
            #expect(
                try await phone.stage.metric("publishes_total") == published, "\(phone.kind): pushed after the logout")
        }
    }
}

/// Alice's phone, and Bob, who is in a room with her. Unchecked: one test uses a phone at a time; the phone's own task reads
/// constants, the stand-in with its lock, and the flag `isDeaf`, where a late look does no harm.
private final class Phone: @unchecked Sendable {
    private static let room = "orchard@conference.localhost"

    let kind: ServerKind
    let world: World
    let stage: PushStage
    private let bob: Chat
    private let listener: Running
    private let socket: String
    // One test uses a phone, and its task that takes pushes reads the flag alone: a late look does no harm.
    nonisolated(unsafe) var isDeaf = false
    private var device: Task<Void, Never>?

    init(_ kind: ServerKind, resumeSeconds: Int) async throws {
        self.kind = kind
        let port = try freePort()
        world = try await World(kind, options: ServerOptions(resumeSeconds: resumeSeconds, componentPort: port))
        stage = try PushStage(folder: world.laboratory.path("push"), port: port, window: nil)
        try stage.addGoogle()
        try stage.start()
        bob = try await world.peer("bob").chat(with: Self.room, label: "x", rate: 1, count: 0, nick: "bob")
        socket = world.laboratory.path("push.sock")
        listener = try world.kalij.begun(["--json", "-v", "wake", "--listen", socket, "--budget", "25"])
        #expect(try await until { try await self.stage.metric("component_up") == 1 })
        try enable("a")
        let joined = try world.kalij("room", "join", Self.room)
        #expect(joined.status == 0, "\(kind): \(joined)")
        device = Task { [weak self] in await self?.takePushes() }
    }

    static func atEachServer(
        resumeSeconds: Int = 600, _ body: @Sendable @escaping (Phone) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in ServerKind.allCases {
                group.addTask {
                    let phone = try await Phone(kind, resumeSeconds: resumeSeconds)
                    defer { phone.close() }
                    try await body(phone)
                }
            }
            try await group.waitForAll()
        }
    }

    func close() {
        device?.cancel()
        stage.kill()
        world.close()
    }

    /// The phone's system: each push starts a run.
    private func takePushes() async {
        var taken = 0
        while !Task.isCancelled {
            let pushes = stage.taken.count
            if pushes > taken, !isDeaf { knock(at: socket) }
            taken = pushes
            try? await sleep(for: .milliseconds(20))
        }
    }

    // MARK: What happens

    /// The app has a token.
    func enable(_ letter: Character, module: String = "apple") throws {
        let token = String(repeating: letter, count: 64)
        let enabled = try world.kalij("push", "enable", "push.localhost", token, "--module", module)
        #expect(enabled.status == 0, "\(kind): \(enabled)")
        #expect(try world.kalij("push", "status").status == 0)
    }

    /// Bob says something in the room.
    func say(_ text: String) throws {
        try bob.send(
            raw: "<message type='groupchat' to='\(Self.room)' id='\(UUID().uuidString)'><body>\(text)</body></message>")
    }

    /// Bob writes to Alice.
    func write(_ text: String) throws {
        try bob.send(
            raw: "<message type='chat' to='alice@localhost' id='\(UUID().uuidString)'><body>\(text)</body></message>")
    }

    // MARK: What is seen

    func events(_ name: String) throws -> [PeerEvent] {
        try bob.events().filter { $0.event == name && $0.sender == "\(Self.room)/alice" }
    }

    func pushed(_ count: Int) async throws {
        #expect(await until { self.stage.taken.count >= count }, "\(kind): no push: \(stage.log.suffix(500))")
    }

    /// The notification with the text is printed.
    func shows(_ text: String) async throws {
        let isShown = try await until {
            try self.listener.events().contains { $0["kind"] as? String == "show" && $0["body"] as? String == text }
        }
        let (pushes, output, errors) = (stage.taken.count, try listener.output, try listener.errors)
        #expect(isShown, "\(kind): \(text); \(pushes) pushes; \(output) \(errors)")
    }

    /// No process is there, and the server knows that the connection is gone.
    func hibernated() async throws {
        #expect(try await until { try world.kalij.driver() == nil })
        try await sleep(for: .milliseconds(500))
    }

    /// How many sessions there were.
    func resumptions() async throws -> Int { Int(try await world.sql("SELECT number FROM session").dropLast()) ?? 0 }
}
