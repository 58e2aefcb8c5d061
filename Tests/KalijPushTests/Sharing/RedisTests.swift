import Foundation
import KalijTransport
import TestSupport
import Testing

@testable import KalijPush

/// A real Redis, asked through the connection that the nodes use.
private final class RealRedis {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private let process = Process()
    private let loop: EventLoop
    private var connection: RedisConnection?
    private var replies: [RESP] = []
    private var failure: String?

    init(folder: String, port: UInt16) throws {
        loop = try EventLoop()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/redis-server")
        process.arguments = [
            "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--logfile", folder + "/log",
        ]
        try process.run()
        let settings = RedisSettings(host: "127.0.0.1", port: port, isSecured: false)
        var isConnected = false
        let connection = RedisConnection(loop: loop, settings: settings) { [weak self] event in
            switch event {
            case .connected: isConnected = true
            case .reply(let reply): self?.replies.append(reply)
            case .disconnected(let reason): self?.failure = reason
            }
            self?.loop.stop()
        }
        self.connection = connection
        connection.open()
        let end = Date().addingTimeInterval(hangLimit)
        while !isConnected {
            guard Date() < end else { throw Problem(description: "redis-server: \(failure ?? "no answer")") }
            turn()
        }
        failure = nil
    }

    deinit {
        connection?.close()
        // The test's thread blocks SIGTERM, and so does its child.
        kill(process.processIdentifier, SIGKILL)
    }

    private func turn() {
        let timer = loop.schedule(after: 1) { [loop] in loop.stop() }
        loop.run()
        timer.cancel()
    }

    func execute(_ words: [[UInt8]]) throws -> RESP {
        var command = RedisCommand()
        command.words = words
        connection?.perform(.send([command]))
        let end = Date().addingTimeInterval(hangLimit)
        while replies.isEmpty {
            guard failure == nil, Date() < end else { throw Problem(description: failure ?? "no reply") }
            turn()
        }
        return replies.removeFirst()
    }
}

@Suite("Redis")
struct RedisTests {
    @Test("the simulated Redis answers like the real one: commands in random order")
    func same() throws {
        let scratch = try ScratchDirectory()
        let real = try RealRedis(folder: scratch.path, port: .random(in: 20_000...29_999))
        var simulated = SimulatedRedis()
        var random = Generator(seed: RandomInput.seed(11))
        for number in 0..<RandomInput.rounds(500) {
            let words = command(&random)
            let texts = words.map { String(decoding: $0, as: UTF8.self) }
            let (theirs, ours) = (try real.execute(words), simulated.execute(words, time: 0))
            if texts[0] == "XINFO", case .array = theirs {
                #expect(
                    theirs.value(of: "last-generated-id") == ours.value(of: "last-generated-id"), "\(number): \(texts)")
            } else {
                #expect(theirs == ours, "\(number): \(texts)")
            }
        }
        let time = try real.execute([Array("TIME".utf8)])
        #expect(time.array?.count == 2 && time.array?[0].number ?? 0 > 1_700_000_000)
    }

    private func command(_ random: inout Generator) -> [[UInt8]] {
        func pick(_ count: Int) -> Int { .random(in: 0..<count, using: &random) }
        let stream = "{kp}:log:n\(pick(3))"
        let words: [String]
        switch pick(20) {
        case 0...8: words = ["XADD", stream, "\(pick(60))-0", "e", String(repeating: "v", count: pick(9))]
        case 9...14:
            let other = "{kp}:log:n\(pick(4))"
            words = [
                "XREAD", "COUNT", "\(1 + pick(8))", "STREAMS", stream, other, EntryID.after(UInt64(pick(60))),
                EntryID.after(UInt64(pick(60))),
            ]
        case 15...17: words = ["XINFO", "STREAM", stream]
        case 18: words = ["XTRIM", stream, "MINID", "\(pick(60))-0"]
        default: words = pick(8) == 0 ? ["FLUSHALL"] : ["XINFO", "STREAM", "nothing"]
        }
        return words.map { Array($0.utf8) }
    }

    @Test("garbage, endless and deep replies end the reader; nothing grows without bound")
    func garbage() throws {
        func read(_ text: String) throws -> [RESP] {
            let reader = try RESPReader()
            var replies: [RESP] = []
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: 7) {
                try bytes[start..<min(start + 7, bytes.count)].withUnsafeBytes { bytes in
                    try reader.feed(bytes) { replies.append($0) }
                }
            }
            return replies
        }
        #expect(
            try read("+OK\r\n:42\r\n$-1\r\n$5\r\nhello\r\n*2\r\n$1\r\na\r\n*0\r\n-ERR no\r\n") == [
                .status("OK"), .integer(42), .null, .text(Array("hello".utf8)),
                .array([.text(Array("a".utf8)), .array([])]), .error("ERR no"),
            ])
        for bad in [
            "HTTP/1.1 400 Bad Request\r\n\r\n", "$999999999999999999999\r\n", "*-7\r\n+x\r\n", ":\r\n12x\r\n!",
            String(repeating: "*1\r\n", count: 100), "$3000000\r\n" + String(repeating: "x", count: 2_999_999),
            "*2147483647\r\n", "*1\r\n*2000000000\r\n", "*30000\r\n" + String(repeating: "+x\r\n", count: 30_000),
        ] {
            #expect(throws: RESPReader.Problem.self, "\(bad.prefix(20))") { _ = try read(bad) }
        }
    }
}
