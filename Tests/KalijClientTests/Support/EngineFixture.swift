import KalijAddress
import KalijCoordination
import KalijStore
import KalijTransport

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore
import TestSupport

/// A directory with one account at a scripted server, and engines that drive it.
final class EngineFixture {
    let scratch: ScratchDirectory
    let directory: AccountDirectory
    /// The events, in short.
    private(set) var told: [String] = []

    convenience init(_ server: ScriptedServer) throws { try self.init(port: server.port) }

    init(port: UInt16) throws {
        scratch = try ScratchDirectory()
        directory = AccountDirectory(scratch.path)
        let settings = ServerSettings(
            override: HostAndPort("127.0.0.1:\(port)"), directTLS: true,
            caFile: try ScriptedServer.Identity.shared.get().certificate)
        try AccountTable(try directory.open(.machine, role: .share, now: 1)).store(
            jid: try JID("juliet@localhost"), server: settings,
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "test")
    }

    /// Short pauses between attempts; a busy machine meets no limit.
    static var timing: Timing {
        var timing = Timing()
        timing.negotiation = hangLimit
        timing.acknowledgement = hangLimit
        timing.logout = hangLimit
        timing.longestRetry = 1
        timing.longestStorageRetry = 0.2
        return timing
    }

    /// For tests of the limits: they are met within a test.
    static var impatientTiming: Timing {
        var timing = timing
        timing.negotiation = 3
        timing.acknowledgement = 1
        return timing
    }

    /// Runs an engine until `isEnough` returns true.
    /// - Returns: how long the engine took to end after it was told to stop.
    @discardableResult
    func run(
        _ role: Role = .main, timing: Timing = EngineFixture.timing,
        _ isEnough: @escaping (Engine, EngineEvent) throws -> Bool
    ) throws -> Double {
        var stopped: Double?
        var problem: (any Error)?
        var engine: Engine?
        let made = try Engine(directory, options: .init(role: role, timing: timing)) { event in
            guard !(event.content is UnreadChanged) else { return }
            self.told.append(event.short)
            guard let engine, stopped == nil else { return }
            do { if try !isEnough(engine, event) { return } } catch { problem = error }
            stopped = engine.loop.now
            engine.loop.enqueue { [weak engine] in engine?.stop() }
        }
        engine = made
        defer { engine = nil }
        made.loop.schedule(after: hangLimit) { [weak made] in
            if stopped == nil { stopped = made?.loop.now }
            made?.stop()
        }
        try made.run()
        if let problem { throw problem }
        return made.loop.now - (stopped ?? made.loop.now)
    }

    func database() throws -> Database { try Database(path: directory.databasePath, durability: .machine) }

    @discardableResult
    func accept(_ body: String) throws -> Message {
        let database = try database()
        return try OutgoingMessages.accept(
            body, to: try JID("romeo@localhost"), of: try AccountTable(database).account(nil, in: directory),
            in: database)
    }

    func number(_ sql: String) throws -> Int64? { try database().prepare(sql).first { $0.optionalInteger() } ?? nil }

    func states() throws -> [String] {
        try database().prepare("SELECT body, state FROM message ORDER BY position").all {
            "\($0.text("body")) \($0.text("state"))"
        }
    }

    /// The reasons for which connections ended.
    var reasons: [String] { told.filter { $0.hasPrefix("offline: ") }.map { String($0.dropFirst(9)) } }
}

extension EngineEvent {
    var short: String {
        switch content {
        case is Connecting: "connecting"
        case let event as Online: event.resumed ? "resumed" : "online"
        case let event as Offline: "offline: \(event.reason)"
        case let event as Refused: "refused: \(event.reason)"
        case is WaitingForStorage: "waiting for storage"
        case is StorageAvailable: "storage available"
        default: Step.Effects(events: [self]).told.first ?? ""
        }
    }
}
