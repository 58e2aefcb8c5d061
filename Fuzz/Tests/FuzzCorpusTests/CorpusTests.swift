import FuzzTargets
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The committed corpus and the past findings, run through the fuzzers' functions.
@Suite struct CorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(arguments: FuzzTarget.allCases)
    func holdsForTheCorpus(_ target: FuzzTarget) throws {
        let packed = try Data(contentsOf: CorpusTests.folder.appending(path: "Corpus/\(target.rawValue).base64"))
        let found = packed.split(separator: UInt8(ascii: "\n")).compactMap { Data(base64Encoded: Data($0)) }
        let seeds = try files("Corpus/\(target.rawValue)")
        #expect(!found.isEmpty)
        for (number, input) in found.enumerated() { run(target, input, "line \(number + 1)") }
        for seed in seeds { run(target, try Data(contentsOf: seed), seed.lastPathComponent) }
    }

    @Test(arguments: FuzzTarget.allCases)
    func holdsForPastFindings(_ target: FuzzTarget) throws {
        for input in try files("Findings/\(target.rawValue)") {
            run(target, try Data(contentsOf: input), input.lastPathComponent)
        }
    }

    private func files(_ path: String) throws -> [URL] {
        let place = CorpusTests.folder.appending(path: path)
        guard FileManager.default.fileExists(atPath: place.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: place.path).sorted().map {
            place.appending(path: $0)
        }
    }

    private func run(_ target: FuzzTarget, _ input: Data, _ name: String) {
        #expect(throws: Never.self, "\(target.rawValue): \(name)") {
            try [UInt8](input).withUnsafeBytes { try target.run($0) }
        }
    }
}
