import Foundation
import Glibc
import KalijLab
import KalijPushLab
import Synchronization
import TestSupport
import Testing

/// From a message in a room to the printed notification, on both servers: `kalij`, a real server, `kalij-push`, `kalij
/// wake`. Only Apple and Google are stand-ins; the phone takes a push and connects to the socket of `kalij wake --listen`.
@Suite("Push and rooms, end to end", .serialized) struct RoomPushTests {
    private static let room = "orchard@conference.localhost"
    /// `Scripts/long room-push 50` gives the long form: so many messages in the room at each server.
    private static let rounds = LongForm.amount("room-push", short: 4)

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
            try await phone.hibernated()
            let (before, sessions, ends) = try await (phone.stage.taken.count, phone.resumptions(), phone.ends())
            try phone.write("nobody wakes")
            try await phone.pushed(before + 1)
            let isGone = try await until { try phone.ends() > ends }
            #expect(isGone, "\(phone.kind): the session lives on")
            phone.isDeaf = false
            try phone.write("to the person")
            try await phone.shows("to the person")
            #expect(try await phone.resumptions() > sessions)
            try await phone.isPushedByTheRoom()
        }
    }

    @Test("case 40: no push while a client is online; after a logout no push ever")
    func silence() async throws {
        try await Phone.atEachServer { phone in
            let run = try phone.world.kalij.running()
            try await run.event("online")
            #expect(try await until { try await phone.world.sql("SELECT state FROM room") == "joined\n" })
            try await phone.settle("one")
            var published = phone.ownPushes
            try phone.say("one")
            try phone.write("two")
            try await run.event("message") { $0["body"] as? String == "two" }
            try await phone.settle("two")
            #expect(phone.ownPushes == published, "\(phone.kind): pushed while online")
            #expect(run.end(SIGTERM).status == 0)
            // Between the client's end and the logout something may be pushed.
            let logout = try phone.world.kalij("logout", "alice@localhost")
            #expect(logout.status == 0, "\(phone.kind): \(logout)")
            try await phone.settle("three")
            published = phone.ownPushes
            try phone.say("three")
            try phone.write("four")
            try await phone.settle("four")
            #expect(phone.ownPushes == published, "\(phone.kind): pushed after the logout")
        }
    }
}

/// Alice's phone, and Bob, who is in a room with her; Carol has a device that is always away. Unchecked: one test uses a phone at a
/// time; the phone's own task reads constants, and what has a lock.
private final class Phone: @unchecked Sendable {
    private static let room = "orchard@conference.localhost"

    let kind: ServerKind
    let world: World
    let stage: PushStage
    private let bob: Chat
    private let listener: Running
    private let socket: String
    private let ears = Mutex((isDeaf: false, heard: 0))
    private var device: Task<Void, Never>?

    init(_ kind: ServerKind, resumeSeconds: Int) async throws {
        self.kind = kind
        let port = try freePort()
        world = try await World(
            kind, options: ServerOptions(resumeSeconds: resumeSeconds, componentPort: port),
            users: ["alice", "bob", "carol"])
        stage = try PushStage(folder: world.laboratory.path("push"), port: port, window: nil)
        try stage.addGoogle()
        try stage.start()
        bob = try await world.peer("bob").chat(with: Self.room, label: "x", rate: 1, count: 0, nick: "bob")
        socket = world.laboratory.path("push.sock")
        listener = try world.kalij.begun(["--json", "-v", "wake", "--listen", socket, "--budget", "300"])
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
            for kind in LongForm.servers {
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
        while !Task.isCancelled {
            let pushes = ownPushes
            ears.withLock { ears in
                if pushes > ears.heard, !ears.isDeaf { knock(at: socket) }
                ears.heard = pushes
            }
            try? await sleep(for: .milliseconds(20))
        }
    }

    /// Whether pushes wake nobody.
    var isDeaf: Bool {
        get { ears.withLock { $0.isDeaf } }
        set { ears.withLock { $0.isDeaf = newValue } }
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

    /// Bob writes to Carol, who is away; once she has her push, everything was pushed that comes from before.
    func settle(_ text: String) async throws {
        let token = String(repeating: Self.carol, count: 64)
        if !stage.taken.contains(token) {
            try await world.peer("carol").enablePush(service: "push.localhost", node: token, module: "apple")
        }
        let before = stage.taken.count { $0 == token }
        try bob.send(
            raw: "<message type='chat' to='carol@localhost' id='\(UUID().uuidString)'><body>\(text)</body></message>")
        #expect(await until { self.stage.taken.count { $0 == token } > before }, "\(kind): no push for carol")
    }

    private static let carol: Character = "f"

    // MARK: What is seen

    /// How many pushes the phone has got.
    var ownPushes: Int { stage.taken.count { $0.first != Self.carol } }

    func events(_ name: String) throws -> [PeerEvent] {
        try bob.events().filter { $0.event == name && $0.sender == "\(Self.room)/alice" }
    }

    func pushed(_ count: Int) async throws {
        #expect(await until { self.stage.taken.count >= count }, "\(kind): no push: \(stage.log.suffix(500))")
    }

    /// The notification with the text is printed.
    func shows(_ text: String) async throws {
        let isShown = try await until { try self.hasShown(text) }
        let (pushes, output, errors) = (stage.taken.count, try listener.output, try listener.errors)
        #expect(isShown, "\(kind): \(text); \(pushes) pushes; \(output) \(errors)")
    }

    /// All pushes were heard, and no process is there.
    func hibernated() async throws {
        #expect(
            try await until(every: 50) {
                try ears.withLock { $0.heard } == ownPushes && world.kalij.driver() == nil
            })
    }

    /// How often Alice's session in the room has ended.
    func ends() throws -> Int { try events("presence").count { $0.type == "unavailable" } }

    /// What is said in the room wakes the phone. A machine may be so slow that the session ends before; then the room pushes nothing, and
    /// a message to the person makes a new session.
    func isPushedByTheRoom() async throws {
        for number in 1... {
            try await hibernated()
            let text = "alice: in the room again, \(number)"
            try say(text)
            var isShown = false
            let isDecided = try await until {
                isShown = try hasShown(text)
                return try isShown || events("presence").last?.type == "unavailable"
            }
            #expect(isDecided, "\(kind)")
            if isShown || !isDecided { return }
            try write("to the person, \(number)")
            try await shows("to the person, \(number)")
        }
    }

    private func hasShown(_ text: String) throws -> Bool {
        try listener.events().contains { $0["kind"] as? String == "show" && $0["body"] as? String == text }
    }

    /// How many sessions there were.
    func resumptions() async throws -> Int { Int(try await world.sql("SELECT number FROM session").dropLast()) ?? 0 }
}
