import Foundation
import KalijLab
import Testing

/// Files from a hostile contact at a hostile server.
@Suite(.serialized) struct HostileDownloadTests {
    @Test(
        "no connection to a private address, nothing outside of the folder, nothing under a name unless proven",
        arguments: HostileFile.Kind.allCases)
    func hostile(_ kind: HostileFile.Kind) async throws {
        let stage = try await HostileDownloads()
        defer { stage.world.close() }
        let start = Date()
        let files = HostileFile.all(kind, sums: stage.network.sums, key: stage.network.key)
        try await stage.share(files)
        if kind == .parts {
            // Each waits before another try.
            let runs = try files.indices.map { try stage.begin($0) }
            for number in files.indices { _ = try await stage.fetch(files[number], runs[number]) }
            try stage.check("all", besides: [])
        } else {
            for number in files.indices {
                let parts = try await stage.fetch(files[number], stage.begin(number))
                try stage.check(files[number].url, besides: parts)
            }
        }
        print("\(kind): \(files.count) hostile files in \(Date().timeIntervalSince(start)) s")
        let requests = try stage.network.requests()
        #expect(!requests.contains("\"cookie\"") && !requests.contains("\"authorization\""))
    }
}

/// Alice in the hostile network, and what she has received so far.
private final class HostileDownloads {
    let world: World
    let network: HostileNetwork
    private var received: Set<String> = []
    private var others: Set<String> = []

    init() async throws {
        world = try await World()
        network = try await HostileNetwork(world)
    }

    /// Bob sends the messages, and alice gets them.
    func share(_ files: [HostileFile]) async throws {
        try await world.peer("bob").send(raw: files.indices.map { files[$0].stanza("m\($0)") }.joined())
        let count = files.count { if case .nothing = $0.outcome { false } else { true } }
        _ = try await until {
            #expect(try network.kalij("wake", "--budget", "300").status == 0)
            return try await network.sql("SELECT count(*) FROM attachment", world) == "\(count)\n"
        }
        #expect(try await network.sql("SELECT count(*) FROM attachment WHERE state = 'offered'", world) == "\(count)\n")
        others = network.files(world).others.union(["hostile-data/files", "hostile-data/files/in"])
    }

    func begin(_ number: Int) throws -> Running { try network.begun(["--json", "download", "m\(number)"]) }

    /// - Parameter run: the download, which has begun.
    /// - Returns: the parts that may stay.
    func fetch(_ file: HostileFile, _ run: Running) async throws -> Set<String> {
        switch file.outcome {
        case .stored(let name):
            let ending = run.process.ended()
            let outcome = (ending?.status, try run.errors, try run.output)
            #expect(outcome.0 == 0, "\(file.url): \(outcome)")
            received.formUnion(["1", "1/" + name])
            let bytes = network.contents("1/" + name)
            #expect(bytes != nil && bytes == file.bytes.map(Self.pattern) ?? bytes, "\(file.url): \(name), \(outcome)")
        case .refused(let words):
            let ending = run.process.ended()
            let errors = try run.errors
            #expect(
                ending?.status == 65 && errors.contains("cannot be fetched") && Self.has(errors, words),
                "\(file.url): \(errors)")
        case .nothing:
            let ending = run.process.ended()
            let errors = try run.errors
            #expect(ending?.status == 65 && errors.contains("shares no file"), "\(file.url): \(errors)")
        case .later(let words):
            return try await later(run, file, words)
        }
        return []
    }

    /// Waits for the first failure, and ends the process.
    /// - Returns: the parts that may stay.
    private func later(_ run: Running, _ file: HostileFile, _ words: String) async throws -> Set<String> {
        let query = """
            SELECT attachment.message, attachment.state, problem FROM attachment JOIN message ON message.id = attachment.message
            WHERE attachment.url = '\(file.url)' AND failures > 0
            """
        var line = ""
        let hasFailed = try await until {
            line = try await self.network.sql(query, self.world)
            return !line.isEmpty
        }
        #expect(hasFailed && line.contains("|wanted|") && Self.has(line, words), "\(file.url): \(line)")
        #expect(run.end(SIGTERM).status == 75)
        let row = line.prefix { $0 != "|" }
        return ["\(row).part", "1"]
    }

    func check(_ url: String, besides parts: Set<String>) throws {
        let now = network.files(world)
        let more = now.received.subtracting(received)
        #expect(more.subtracting(parts.union(["1"])) == [], "\(url)")
        // The part of an earlier file may stay, or be gone after another attempt.
        #expect(received.filter { !$0.hasSuffix(".part") }.subtracting(now.received) == [], "\(url)")
        received.formUnion(more)
        #expect(now.others.subtracting(others) == [], "\(url)")
        let forbidden = try network.forbidden()
        #expect(forbidden == [], "\(url)")
    }

    private static func has(_ text: String, _ words: String) -> Bool { words.isEmpty || text.contains(words) }

    /// The server's bytes: each four are a number.
    private static func pattern(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 / 4) >> (8 * (3 - $0 % 4))) })
    }
}
