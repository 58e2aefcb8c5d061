import Foundation
import KalijLab
import TestSupport
import Testing

/// "A hostile server that answers each request wrongly for ten minutes: requests, bytes written and CPU stay within the table."
///
/// The server answers one or two kinds of requests wrongly at a time, each in one of ten ways, and provokes requests all the time.
@Suite(.serialized) struct WrongAnswersTests {
    @Test(
        "a server that answers wrongly gets the requests of Requests.md, and no more; what is written follows from what it sends"
    )
    func bounds() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let random = RandomChoices("wrong answers")
        let seconds = LongForm.amount("wrong-answers")
        let amount = seconds.map { ["--seconds", "\($0)"] } ?? ["--pushes", "400"]
        let server = try await WrongServer(laboratory, seed: random.number(0...999_999), amount)
        let kalij = try Kalij(data: laboratory.path("data"))
        try server.logIn(kalij)
        for number in 0..<4 {
            let room = "r\(number)@rooms.localhost"
            #expect(try kalij("room", "join", room, "--nick", "Julia", "--queue-only").status == 0)
        }
        for number in 0..<3 {
            #expect(try kalij("omemo", "on", "c\(number)@localhost", "--queue-only").status == 0)
            #expect(try kalij("send", "c\(number)@localhost", "secret", "--queue-only").status == 0)
        }
        let run = try kalij.running()
        let (isDone, changes) = try await lasts(seconds, server, kalij, run)
        #expect(isDone)
        let counts = try await server.counts()
        let use = try Use(run)
        try check(counts, RequestBounds(counts, changes: changes), use, Self.sizeOfDatabase(kalij))
        #expect(run.isRunning)
        #expect(run.end(SIGTERM).status == 0)
        if seconds != nil { #expect(use.cpu < 0.25 * counts.seconds, "\(use.cpu) s of CPU in \(counts.seconds) s") }
    }

    /// Waits until all provocations are through; the user writes, reads and changes nicknames now and then.
    /// - Returns: whether they are, and how many changes there were.
    private func lasts(_ seconds: Int?, _ server: WrongServer, _ kalij: Kalij, _ run: Running) async throws -> (
        Bool, Int
    ) {
        let end = Date().addingTimeInterval(Double(seconds ?? 0) + hangLimit)
        // What the user changes is written, and read again.
        let between = seconds == nil ? 4 : 40
        var (rounds, changes) = (0, 0)
        while run.isRunning, Date() < end {
            if try await server.counts().done { return (true, changes) }
            rounds += 1
            if rounds % between == 1 {
                changes += 1
                let room = "r\(changes % 4)@rooms.localhost"
                // Perhaps the room is not wanted any more.
                _ = try kalij("room", "nick", room, "Julia\(changes)", "--queue-only")
                _ = try kalij("send", room, "in the room", "--queue-only")
                _ = try kalij("read", "c1@localhost")
                #expect(try kalij("send", "c0@localhost", "secret", "--queue-only").status == 0)
            }
            try await sleep(for: .milliseconds(250))
        }
        return (false, changes)
    }

    private func check(_ counts: WrongServer.Counts, _ bounds: RequestBounds, _ use: Use, _ size: Int) throws {
        let bounds = try bounds.all()
        for (kind, number) in counts.kinds.sorted(by: { $0.value > $1.value }) {
            // What the user has sent is the user's.
            if ["message", "message room"].contains(kind) { continue }
            let most = try #require(bounds[kind], "\(kind) is not in Requests.md: \(counts.first[kind] ?? "")")
            print("wrong answers: \(number) of \(Int(most)): \(kind)")
            #expect(Double(number) <= most, "\(kind): \(counts.first[kind] ?? "")")
        }
        let own = counts.kinds.values.reduce(0, +)
        let (all, keys) = (counts.sent + own, counts.kinds["publish bundle"] ?? 0)
        print(
            """
            wrong answers: \(counts.provoked) provocations, \(counts.sent) stanzas, \(own) stanzas of the client's in \
            \(Int(counts.seconds)) s, \(counts.connections) connections, \(counts.bytes / max(1, own)) bytes a stanza up, \
            \(use.written / max(1, all)) bytes written and \(use.cpu * 1000 / Double(max(1, all))) ms of CPU a stanza, \
            a database of \(size / 1_000_000) MB
            """)
        #expect(counts.bytes <= own * 2000 + keys * 30_000)
        #expect(use.written <= all * 50_000 + 16_000_000)
        #expect(size <= counts.sent * 2000 + 8_000_000)
    }

    private static func sizeOfDatabase(_ kalij: Kalij) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: kalij.data).filter { $0.hasPrefix("kalij.db") }.reduce(0) {
            $0 + ((try FileManager.default.attributesOfItem(atPath: "\(kalij.data)/\($1)")[.size] as? Int) ?? 0)
        }
    }
}

/// What a process has used so far.
private struct Use {
    /// Bytes for the disk; on a file system in memory there are none.
    let written: Int
    /// Seconds of the processor.
    let cpu: Double

    init(_ running: Running) throws {
        let io = try systemFile("/proc/\(running.pid)/io")
        written = try #require(io.firstMatch(of: /\nwrite_bytes: (\d+)/).flatMap { Int($0.output.1) })
        // The name of the command stands in parentheses; 14 and 15 are the ticks of user and system.
        let stat = try #require(try systemFile("/proc/\(running.pid)/stat").split(separator: ")").last)
        let words = stat.split(separator: " ")
        cpu = Double((Int(words[11]) ?? 0) + (Int(words[12]) ?? 0)) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
