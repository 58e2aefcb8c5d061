import Foundation
import KalijPushLab

/// What sharing through a real Redis costs: the same load with Redis and without, by turns; then a node with a million
/// records, and a new node that reads them all while it works.
final class Nodes {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let records = 1_000_000
    private static let rounds = 5

    private let command: String
    private let folder: String
    private let redis = Process()
    private let redisPort: Int
    private let pagePort: Int

    init(_ command: String, _ folder: String) throws {
        self.command = command
        self.folder = folder
        (redisPort, pagePort) = (try freePort(), try freePort())
        try Data(String(repeating: "s", count: 48).utf8).write(to: URL(fileURLWithPath: folder + "/cluster"))
        redis.executableURL = URL(fileURLWithPath: "/usr/bin/redis-server")
        redis.arguments = [
            "--port", "\(redisPort)", "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--daemonize", "no",
        ]
        redis.standardOutput = FileHandle.nullDevice
    }

    func measure() throws -> [Figure] {
        try redis.run()
        defer {
            redis.terminate()
            redis.waitUntilExit()
        }
        try wait("Redis", 10) { try ask("PING").hasPrefix("PONG") }
        return try compare() + replay()
    }

    private func settings(_ name: String, other: String) -> String {
        """
        "http": {"port": \(pagePort)}, "nodes": {"name": "\(name)", "others": ["\(other)"],
         "secretFile": "\(folder)/cluster", "redis": [{"host": "127.0.0.1", "port": \(redisPort)}]},
        """
    }

    // MARK: The same load

    private func compare() throws -> [Figure] {
        var loads: [Bool: [(calm: EndToEnd.Load, most: EndToEnd.Load)]] = [:]
        for round in 0..<Self.rounds {
            for isShared in round % 2 == 0 ? [false, true] : [true, false] {
                let name = "round\(round)\(isShared)"
                let node = try EndToEnd(
                    command, folder, name: name, more: isShared ? settings("n1", other: "n2") : "")
                try node.start()
                defer { node.stop() }
                _ = node.load(1_000, seconds: 1)
                guard let calm = node.load(5_000, seconds: 6, deadEach: 1_000),
                    let most = node.load(40_000, seconds: 6, deadEach: 8_000)
                else { throw Failure(description: "no answer") }
                loads[isShared, default: []].append((calm, most))
                say(
                    "round \(round + 1), \(isShared ? "with Redis" : "alone     "): \(Int(most.reached)) a second; at 5,000 "
                        + "99 of 100 within \(String(format: "%.1f", calm.late)) ms, \(Int(calm.processor)) µs of CPU each"
                )
            }
        }
        func ratio(_ value: ((calm: EndToEnd.Load, most: EndToEnd.Load)) -> Double) -> Double {
            (loads[true] ?? []).map(value).median / (loads[false] ?? []).map(value).median
        }
        let later = (loads[true] ?? []).map(\.calm.late).median - (loads[false] ?? []).map(\.calm.late).median
        return [
            Figure(
                name: "pushes a second, with Redis / without", value: ratio(\.most.reached), bound: 0.95, isLeast: true),
            Figure(
                name: "CPU of a push at 5,000 a second, with / without", value: ratio(\.calm.processor), bound: 1.05),
            Figure(name: "99 of 100 at 5,000 a second: later with Redis", value: later, unit: " ms", bound: 5),
        ]
    }

    // MARK: A million records

    private func replay() throws -> [Figure] {
        _ = try ask("FLUSHALL")
        try fill()
        let bytes =
            try ask("INFO", "memory").split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("used_memory:") }.flatMap { Double($0.dropFirst(12)) } ?? .infinity
        let node = try EndToEnd(command, folder, name: "new", more: settings("n1", other: "n2"))
        let began = Date()
        try node.start()
        defer { node.stop() }
        var seconds = Double.infinity
        var reading: [EndToEnd.Load] = []
        while Date().timeIntervalSince(began) < 180, seconds == .infinity {
            if let load = node.load(1_000, seconds: 1) { reading.append(load) }
            if try records("n2") >= Self.records { seconds = Date().timeIntervalSince(began) }
        }
        // Another new node, which is as busy with its start, and reads nothing.
        let other = try EndToEnd(command, folder, name: "alone")
        try other.start()
        defer { other.stop() }
        let calm = reading.indices.compactMap { _ in other.load(1_000, seconds: 1)?.late }
        func text(_ times: [Double]) -> String { times.map { String(format: "%.1f", $0) }.joined(separator: ", ") }
        say("99 of 100, second by second: reading \(text(reading.map(\.late))) ms; alone \(text(calm)) ms")
        return [
            Figure(name: "memory of Redis with 1,000,000 records", value: bytes / 1e6, unit: " MB", bound: 200),
            Figure(name: "a new node has them all after", value: seconds, unit: " s", bound: 60),
            Figure(
                name: "meanwhile 99 of 100 at 1,000 a second: later", value: reading.map(\.late).median - calm.median,
                unit: " ms", bound: 5),
        ]
    }

    /// A node that has proven a million blocks writes them.
    private func fill() throws {
        let first = try EndToEnd(command, folder, name: "full", more: settings("n2", other: "n1"))
        try first.start()
        first.stop()
        let program = """
            import os, sqlite3, sys, time
            now = int(time.time() * 1000)
            database = sqlite3.connect(sys.argv[1])
            database.executemany("INSERT INTO block (key, version, expires, reason) VALUES (?, ?, ?, 1)",
                ((os.urandom(16), now - 3600000 - number << 16, now + 86400000) for number in range(int(sys.argv[2]))))
            database.commit()
            """
        _ = try run("/usr/bin/python3", ["-c", program, folder + "/full.db", "\(Self.records)"])
        let node = try EndToEnd(command, folder, name: "full", more: settings("n2", other: "n1"))
        let began = Date()
        try node.start()
        defer { node.stop() }
        try wait("a million blocks", 60) { try records("n2") >= Self.records }
        var (before, same) = ("", 0)
        try wait("all records in Redis", 300) {
            // Four equal counts, a second apart, are the end.
            sleep(1)
            let entries = try ask("XLEN", "{kp}:log:n2")
            same =
                entries == before && (Int(entries.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 1_900
                ? same + 1 : 0
            before = entries
            return same == 4
        }
        say("the full node has written for \(Int(Date().timeIntervalSince(began) - 5)) s")
    }

    /// The records of a node that the measured node has.
    private func records(_ name: String) throws -> Int {
        let page = try run("/usr/bin/curl", ["-s", "--max-time", "10", "http://127.0.0.1:\(pagePort)/metrics"])
        let start = "kalij_push_node_records{node=\"\(name)\"} "
        let line = page.split(separator: "\n").first { $0.hasPrefix(start) }
        return line.flatMap { Int($0.dropFirst(start.count)) } ?? 0
    }

    // MARK: Tools

    /// Shows progress in a file at once, too.
    private func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    private func ask(_ words: String...) throws -> String {
        try run("/usr/bin/redis-cli", ["-p", "\(redisPort)"] + words)
    }

    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }

    private func wait(_ what: String, _ seconds: Double, _ isDone: () throws -> Bool) throws {
        let end = Date().addingTimeInterval(seconds)
        while try !isDone() {
            guard Date() < end else { throw Failure(description: "\(what): not within \(Int(seconds)) s") }
            // Between two questions to another process, which says nothing by itself.
            usleep(100_000)
        }
    }
}

/// A port of 127.0.0.1 that nobody listens on.
private func freePort() throws -> Int {
    let listener = try LabComponentServer(key: "k")
    defer { listener.stop() }
    return listener.port
}
