import Foundation
import KalijXML
import TestSupport
import Testing

/// "A differential test of the parser against lxml: every element, attribute, namespace and text equal, of the corpus
/// and of 10,000 generated documents (prefixes rebound, CDATA, references, CRLF, mixed content), for chunks of 1, 7,
/// 1,400 and 65,536 bytes."
@Suite struct ParserDifferentialTests {
    @Test("Generated streams have the same content for our parser and lxml, in chunks of any size")
    func generated() async throws {
        let wrong = try await sideBySide(Wanted.cases(500, of: 10_000)) { part, count in
            var random = Seeded(Wanted.seed &+ UInt64(part))
            let streams = (0..<count).map { _ in RandomStream.make(&random) }
            let judged = try await Judged.all(streams)
            return zip(streams, judged).flatMap { ParserDifferentialTests.differences($0, $1) }
        }
        expectNothing(wrong.flatMap { $0 })
    }

    @Test("a recorded stream has the same content for our parser and lxml: `stream=FILE`, or stanzas in servers' style")
    func corpus() async throws {
        var stream: [UInt8]
        if let path = Wanted.stream {
            stream = try [UInt8](Data(contentsOf: URL(filePath: path)))
        } else {
            var random = Seeded(Wanted.seed)
            stream = Stanzas.stream(400, &random)
        }
        let judged = try await Judged.all([stream])
        expectNothing(ParserDifferentialTests.differences(stream, judged[0]))
    }

    /// The differences for a stream that both parsers have to accept.
    private static func differences(_ stream: [UInt8], _ judged: Judged) -> [String] {
        let shown = String(decoding: stream.prefix(4_000), as: UTF8.self)
        guard judged.accepted, judged.flags == "-" else { return ["lxml: \(judged.message)\(judged.flags): \(shown)"] }
        var result: [String] = []
        for size in Parsed.chunkSizes {
            let parsed = Parsed(stream, by: size)
            if parsed.condition != nil || !parsed.isClosed || !parsed.skipped.isEmpty {
                result.append("by \(size): \(parsed.text) \(parsed.skipped) \(shown)")
            } else if parsed.dump.bytes != judged.dump {
                result.append("by \(size): \(difference(parsed.dump.bytes, judged.dump)) \(shown)")
            }
        }
        return result
    }

    /// The first place where two dumps differ.
    static func difference(_ ours: [UInt8], _ theirs: [UInt8]) -> String {
        let place =
            zip(ours, theirs).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            ?? min(ours.count, theirs.count)
        let around = max(place - 40, 0)
        return "ours \(String(decoding: ours.dropFirst(around).prefix(90), as: UTF8.self)) theirs "
            + String(decoding: theirs.dropFirst(around).prefix(90), as: UTF8.self)
    }
}
