import Foundation
import Glibc
import KalijLab
import Testing

/// A slow way to a server, which counts (`Tests/Programs/link.py`).
final class SlowWay: @unchecked Sendable {
    /// The port that leads to STARTTLS.
    let port: Int
    /// The port that leads to TLS from the first byte.
    let directPort: Int
    // Used by one task of a test at a time.
    private let running: Running
    private var commands = 0

    /// 32 kbit/s each way, and half a second for a round trip.
    static let bytesPerSecond = 4000
    static let roundTrip = 0.5

    init(_ server: any XMPPServer, in laboratory: Laboratory) async throws {
        (port, directPort) = (try freePort(), try freePort())
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/link.py").path
        running = try Running(
            laboratory.launch(
                "/usr/bin/python3", [program, "\(port):\(server.port)", "\(directPort):\(server.directTLSPort)"]))
        let isReady = try await until { try events("ready").count == 1 }
        try #require(isReady)
    }

    /// What the client's side of a connection saw.
    struct Counts: Decodable {
        let event: String
        let number: Int
        let at: Double
        let up: Int?
        let down: Int?
        let trips: Int?
        let began: Double?
        let flights: [Flight]?
    }

    struct Flight: Decodable {
        let first: Double
        let isUp: Bool
        let bytes: Int
        let trips: Int

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            first = try list.decode(Double.self)
            _ = try list.decode(Double.self)
            isUp = try list.decode(String.self) == "up"
            bytes = try list.decode(Int.self)
            trips = try list.decode(Int.self)
        }
    }

    /// What something cost that was known at a moment: all up to the answer that told it.
    struct Cost: CustomStringConvertible {
        var trips = 0
        var up = 0
        var down = 0
        var seconds = 0.0

        var description: String { "\(trips) round trips, \(seconds) s, \(up) bytes up, \(down) down" }
    }

    /// A command, taken when this function returns.
    func tell(_ command: String) async throws {
        commands += 1
        try running.process.write(line: command)
        let isDone = try await until { try events("done").count == commands }
        #expect(isDone, "\(command)")
    }

    func slow() async throws {
        try await tell("rate \(Self.bytesPerSecond)")
        try await tell("delay \(Self.roundTrip)")
    }

    func fast() async throws {
        try await tell("rate 0")
        try await tell("delay 0")
    }

    private struct Kind: Decodable { let event: String }

    private func events(_ name: String) throws -> [Data] {
        try running.lines.map { Data($0.utf8) }
            .filter { (try? JSONDecoder().decode(Kind.self, from: $0))?.event == name }
    }

    /// The number of connections so far.
    func connections() throws -> Int { try events("open").count }

    /// Every connection after the first `count`, ended or not.
    func counts(after count: Int) async throws -> [Counts] {
        try await tell("count")
        var found: [Int: Counts] = [:]
        for data in try events("count") + events("end") {
            let counts = try JSONDecoder().decode(Counts.self, from: data)
            if counts.number > count { found[counts.number] = counts }
        }
        return found.values.sorted { $0.number < $1.number }
    }

    /// The cost of the newest connection up to a moment of the monotonic clock.
    func cost(until moment: Double) async throws -> Cost {
        let counts = try #require(try await counts(after: 0).last)
        let began = try #require(counts.began)
        var (cost, up, down) = (Cost(), 0, 0)
        for flight in counts.flights ?? [] where began + flight.first <= moment {
            if flight.isUp {
                up += flight.bytes
            } else {
                down += flight.bytes
                cost = Cost(trips: flight.trips, up: up, down: down)
            }
        }
        cost.seconds = moment - began
        return cost
    }

    /// Seconds of the clock that the counts use.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Alice at the end of a slow way.
struct SlowWorld {
    let laboratory: Laboratory
    let server: any XMPPServer
    let way: SlowWay
    let kalij: Kalij
    var world: World { World(laboratory, server, kalij) }

    init(
        _ kind: ServerKind, release: DebianRelease? = nil, isDirect: Bool = false,
        options: ServerOptions = ServerOptions()
    ) async throws {
        var options = options
        if let release { options.release = release }
        options.largeCertificate = true
        laboratory = try Laboratory()
        server = try await startedServer(kind, in: laboratory, options: options)
        way = try await SlowWay(server, in: laboratory)
        kalij = try Kalij(data: laboratory.path("slow"))
        let login = try kalij.run(
            [
                "login", "alice@localhost", "--server", "127.0.0.1:\(isDirect ? way.directPort : way.port)", "--ca",
                server.certificateAuthority,
            ] + (isDirect ? ["--direct-tls"] : []), environment: ["KALIJ_PASSWORD": "secret"])
        try #require(login.status == 0, "\(login.errors)")
    }

    /// A session with so many messages waiting at the other end of a slow line.
    static func waiting(_ count: Int, _ kind: ServerKind) async throws -> SlowWorld {
        // The session outlives all of the messages, as with a server of few accounts.
        let world = try await SlowWorld(kind, options: ServerOptions(queueLimit: 5000))
        do {
            try await world.settle()
            try await world.world.send((0..<count).map { "waiting \($0), of a usual length, with words" })
            try await world.way.slow()
        } catch {
            world.close()
            throw error
        }
        return world
    }

    func close() { laboratory.close() }

    /// Online and up to date, and killed: the session can be resumed. After a bind the archive is read twice, the second time five seconds later.
    func settle() async throws {
        let run = try kalij.running()
        let readings = try await run.event("online")["resumed"] as? Bool == true ? 1 : 2
        let areDone = try await until(every: 50) {
            try run.events().count { $0["event"] as? String == "caught_up" } >= readings
        }
        #expect(areDone)
        _ = run.end(SIGKILL)
    }

    private static let clock = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// A process that is killed once its session is resumed.
    /// - Returns: the cost; nil if the session was not resumed.
    func reconnect() async throws -> SlowWay.Cost? {
        let run = try kalij.running()
        let online = try await run.event("online")
        // When the event was told, not when it was found: what is asked for next may be answered in between.
        let told = try #require((online["at"] as? String).flatMap { try? Self.clock.parse($0) })
        let moment = SlowWay.now() - Date().timeIntervalSince(told)
        defer { _ = run.end(SIGKILL) }
        guard online["resumed"] as? Bool == true else { return nil }
        // What the server gives with the session, such as a token, comes before this answer.
        #expect(try kalij("ping", "localhost", "--wait", "300").status == 0)
        return try await way.cost(until: moment)
    }
}
