import Foundation
import KalijLab
import Testing

/// What works with servers as they are installed.
///
/// `Documentation/DefaultInstalls.md` has the table; `KALIJ_WRITE=1` writes the measured columns there. Debian 13's servers
/// are measured by `make default-installs`, which names their folder in `KALIJ_DEBIAN13`.
@Suite(.serialized) struct DefaultInstallTests {
    private typealias Column = [(feature: String, answer: String)]

    private static let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Documentation/DefaultInstalls.md").path
    private static let debian13 = ProcessInfo.processInfo.environment["KALIJ_DEBIAN13"]

    @Test("servers with the configuration of their packages: what works is what the table says")
    func table() async throws {
        let editions = DefaultInstall.Edition.allCases.filter { $0.isDebian13 == (Self.debian13 != nil) }
        let columns = try await withThrowingTaskGroup(of: (DefaultInstall.Edition, Column).self) { group in
            for edition in editions { group.addTask { (edition, try await Self.measured(edition)) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var table = try DocumentTable(Self.document)
        if ProcessInfo.processInfo.environment["KALIJ_WRITE"] != nil {
            for (edition, column) in columns { table.set(edition.rawValue, column) }
            try table.write()
        }
        for (edition, column) in columns {
            let features = column.map(\.feature)
            #expect(table.features == features, "\(edition.rawValue)")
            for (feature, answer) in column {
                let written = table.answer(edition.rawValue, feature)
                #expect(written == answer, "\(edition.rawValue), \(feature)")
            }
        }
    }

    /// All servers run at the same time: most of the time is waiting.
    private static func measured(_ edition: DefaultInstall.Edition) async throws -> Column {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await DefaultInstall(edition, debian13: debian13, in: laboratory)
        defer { server.remove() }
        do {
            try await server.start()
            for user in ["alice", "bob"] { try await server.register(user, password: "secret") }
            let column = try await InstallProbe(server, in: laboratory).results()
            await server.stop()
            return column
        } catch {
            await server.stop()
            throw LaboratoryError("\(edition.rawValue): \(error)")
        }
    }
}

/// The only table of a Markdown document: a row for each feature, a column for each server.
private struct DocumentTable {
    private let path: String
    private let (before, after): (ArraySlice<String>, ArraySlice<String>)
    private let servers: [String]
    private(set) var features: [String] = []
    private var answers: [[String: String]] = []

    init(_ path: String) throws {
        self.path = path
        let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
        let begin = try #require(lines.firstIndex { $0.hasPrefix("|") }, "\(path) has a table")
        let end = lines[begin...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
        (before, after) = (lines[..<begin], lines[end...])
        servers = Array(Self.cells(lines[begin]).dropFirst())
        for line in lines[begin..<end].dropFirst(2) {
            let cells = Self.cells(line)
            features.append(cells[0])
            answers.append(Dictionary(zip(servers, cells.dropFirst())) { $1 })
        }
    }

    private static func cells(_ line: String) -> [String] {
        line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    func answer(_ server: String, _ feature: String) -> String? {
        features.firstIndex(of: feature).flatMap { answers[$0][server] }
    }

    mutating func set(_ server: String, _ column: [(feature: String, answer: String)]) {
        let old = Dictionary(zip(features, answers)) { $1 }
        features = column.map(\.feature)
        answers = column.map { feature, answer in (old[feature] ?? [:]).merging([server: answer]) { $1 } }
    }

    func write() throws {
        let head = [
            "| | " + servers.joined(separator: " | ") + " |", "|" + String(repeating: "---|", count: servers.count + 1),
        ]
        let rows = zip(features, answers).map { feature, answers in
            "| " + ([feature] + servers.map { answers[$0] ?? "" }).joined(separator: " | ") + " |"
        }
        try (before + head + rows + after).joined(separator: "\n").write(
            toFile: path, atomically: true, encoding: .utf8)
    }
}
