import Foundation
import FuzzTargets
import Testing

/// The committed corpus and the past findings, run through what the fuzzers run.
@Suite struct CorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(arguments: FuzzTarget.allCases)
    func holdsForTheCorpus(_ target: FuzzTarget) throws {
        let inputs = try files("Corpus/\(target.rawValue)")
        #expect(!inputs.isEmpty)
        try run(target, inputs)
    }

    @Test(arguments: FuzzTarget.allCases)
    func holdsForPastFindings(_ target: FuzzTarget) throws { try run(target, files("Findings/\(target.rawValue)")) }

    private func files(_ path: String) throws -> [URL] {
        let place = CorpusTests.folder.appending(path: path)
        guard FileManager.default.fileExists(atPath: place.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
    }

    private func run(_ target: FuzzTarget, _ inputs: [URL]) throws {
        for input in inputs {
            let bytes = [UInt8](try Data(contentsOf: input))
            #expect(throws: Never.self, "\(input.lastPathComponent)") {
                try bytes.withUnsafeBytes { try target.run($0) }
            }
        }
    }
}
