import Foundation
import Testing

/// `Documentation/AddingAFeature.md` says what is in the sources.
struct AddingAFeatureTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    private func page() throws -> String { try text("Documentation/AddingAFeature.md") }

    @Test("each piece of code is in the file that its first line names")
    func code() throws {
        let blocks = try page().components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
        #expect(blocks.count > 5)
        for block in blocks {
            let lines = block.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let path = try #require(lines.first).dropFirst("// ".count)
            #expect(try text(String(path)).contains(try #require(lines.last)), "\(path) does not have this:\n\(block)")
        }
    }

    @Test("each file and folder is there")
    func paths() throws {
        let named = try page().matches(of: #/`((?:Sources|Tests|Documentation|Scripts)/[\w/.+-]+)`/#).map {
            String($0.1)
        }
        #expect(named.count > 10)
        for path in named {
            #expect(FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path), "\(path)")
        }
    }

    @Test("the tables name all functions of the seam, in their order, and of the simulator's")
    func functions() throws {
        for (protocolName, path, heading) in [
            ("Feature", "Sources/KalijSteps/Step/Feature.swift", "| function | called |"),
            (
                "SimulatedFeature", "Tests/Simulation/Sources/Simulation/Features/SimulatedFeature.swift",
                "| function of `SimulatedFeature` | called |"
            ),
        ] {
            let declaration = try #require(
                try text(path).components(separatedBy: "protocol \(protocolName): ").last?
                    .components(separatedBy: "\n}").first)
            let declared = declaration.matches(of: #/\n    (?:static )?(?:func|var) (\w+)/#).map { String($0.1) }
            let table = try #require(try page().components(separatedBy: heading + "\n|---|---|\n").last)
            let rows = try #require(table.components(separatedBy: "\n\n").first)
            let named = rows.matches(of: #/(?m)^\| `(\w+)` \|/#).map { String($0.1) }
            #expect(!declared.isEmpty)
            #expect(named == declared, "\(protocolName)")
        }
    }
}
