import Foundation
import KalijLab
import Testing

/// Where a process can be frozen; see `Tests/Programs/freeze.c`.
enum FreezePoint: String, CaseIterable, Sendable {
    case inside, unwritten, unsent, fence, resume, asked, resumed

    /// The requirement's name for the kind.
    enum Kind: String, CaseIterable, Sendable {
        case transaction = "inside a transaction"
        case write = "between commit and write"
        case session = "between fence and <resumed/>"

        var points: [FreezePoint] { FreezePoint.allCases.filter { $0.kind == self } }
    }

    var kind: Kind {
        switch self {
        case .inside: .transaction
        case .unwritten, .unsent: .write
        case .fence, .resume, .asked, .resumed: .session
        }
    }

    /// How often a process passes the point before freezing.
    var occurrences: ClosedRange<Int> {
        switch self {
        case .inside: 1...12
        case .unwritten: 1...5
        default: 1...1
        }
    }
}

/// The library that freezes processes at chosen points, and watches their commits.
struct Freezer: Sendable {
    let library: String

    /// Compiles the library.
    init(in laboratory: Laboratory) async throws {
        library = laboratory.path("freeze.so")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/freeze.c").path
        try await laboratory.run(
            "/usr/bin/gcc", ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source])
    }

    /// The environment to watch a process, and to freeze the process at `point`.
    func environment(log: String, at point: FreezePoint? = nil, _ random: RandomChoices? = nil) -> [String: String] {
        var values = ["LD_PRELOAD": preloaded(library), "KALIJ_FREEZE_LOG": log]
        if let point {
            let occurrence = random?.number(point.occurrences) ?? point.occurrences.lowerBound
            values["KALIJ_FREEZE"] = "\(point.rawValue):\(occurrence)"
        }
        return values
    }
}

/// The library's output.
struct FreezeLog: Sendable {
    let path: String

    struct Line { let pid: Int32, what: String, mine: Int, now: Int }

    func lines() -> [Line] {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 4, let pid = Int32(words[0]), let mine = Int(words[2]), let now = Int(words[3])
            else { return nil }
            return Line(pid: pid, what: String(words[1]), mine: mine, now: now)
        }
    }

    func has(_ what: String, pid: Int32) -> Bool { lines().contains { $0.pid == pid && $0.what == what } }

    /// A process that has not reached its point by now is not frozen any more.
    func callOff() throws { try Data().write(to: URL(fileURLWithPath: path + ".off")) }

    func remove() {
        unlink(path)
        unlink(path + ".off")
    }
}
