import Foundation
import KalijXML
import TestSupport
import Testing

/// Broken streams are accepted or refused by both parsers alike, except where RFC 6120 section 11 restricts XML; each
/// restriction is checked with lxml's result.
@Suite struct DamagedStreamTests {
    private struct Count: Sendable {
        var accepted = 0
        var refused = 0
        /// Streams accepted by one of the two, by reason.
        var exceptions: [String: Int] = [:]
        var wrong: [String] = []
    }

    @Test("Broken streams: both parsers accept or both refuse, and accepted streams have the same content")
    func broken() async throws {
        let wanted = Wanted.cases(400, of: 2_000)
        let counts = try await sideBySide(wanted) { part, count in
            var random = Seeded(Wanted.seed &+ UInt64(part) &+ 77)
            let streams = (0..<count).map { _ in Damage.damage(RandomStream.make(&random), &random) }
            let judged = try await Judged.all(streams)
            var result = Count()
            for (stream, judged) in zip(streams, judged) { DamagedStreamTests.compare(stream, judged, &result) }
            return result
        }
        let exceptions = counts.map(\.exceptions).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        print(
            "\(wanted) broken streams, seed \(Wanted.seed): \(counts.map(\.accepted).reduce(0, +)) accepted and "
                + "\(counts.map(\.refused).reduce(0, +)) refused by both; exceptions:")
        for (reason, count) in exceptions.sorted(by: { $0.value > $1.value }) { print("    \(count) \(reason)") }
        expectNothing(counts.flatMap(\.wrong))
    }

    private static func compare(_ stream: [UInt8], _ judged: Judged, _ count: inout Count) {
        let whole = Parsed(stream, by: 65_536)
        let shown = String(decoding: stream, as: UTF8.self)
        for size in [1, 7] {
            let cut = Parsed(stream, by: size)
            if cut.dump != whole.dump || (cut.condition == nil) != (whole.condition == nil) {
                count.wrong.append("by \(size): \(cut.text), whole: \(whole.text): \(shown)")
            }
        }
        switch (whole.condition, judged.accepted) {
        case (nil, true):
            count.accepted += 1
            guard whole.dump.bytes != judged.dump else { return }
            count.wrong.append("\(ParserDifferentialTests.difference(whole.dump.bytes, judged.dump)) \(shown)")
        case (.some, false): count.refused += 1
        case (.some(let condition), true):
            if let reason = refusal(condition, judged.flags, stream) {
                count.exceptions[reason, default: 0] += 1
            } else {
                count.wrong.append("refused: \(whole.text); lxml finds \(judged.flags): \(shown)")
            }
        case (nil, false):
            if let reason = acceptance(judged.message) {
                count.exceptions[reason, default: 0] += 1
            } else {
                count.wrong.append("accepted; lxml: \(judged.message): \(shown)")
            }
        }
    }

    /// Why we may accept a stream that lxml refuses, nil if there is no reason: lxml asks for more than XML and its
    /// namespaces do.
    private static func acceptance(_ message: String) -> String? {
        if message.contains("is not a valid URI") { return "accepted: a namespace that is no URI" }
        let isIdentifier = message.hasPrefix("xml:id") || message.contains(/^ID .* already defined/)
        return isIdentifier ? "accepted: an xml:id that is no name or not unique" : nil
    }

    /// Why we may refuse a stream that lxml accepts, nil if there is no reason.
    private static func refusal(_ condition: String, _ flags: String, _ stream: [UInt8]) -> String? {
        switch condition {
        case "restricted-xml" where flags.contains("C"): "refused: a comment"
        case "restricted-xml" where flags.contains("P"): "refused: a processing instruction"
        case "restricted-xml" where flags.contains("D"): "refused: a document type declaration"
        case "bad-format" where flags.contains("T"): "refused: text between stanzas"
        case "bad-format" where stream.firstRange(of: Array("<![CDATA[]]>".utf8)) != nil:
            "refused: an empty CDATA section between stanzas"
        // A reader of a document in memory takes a zero byte for the end.
        case "not-well-formed" where stream.contains(0): "refused: U+0000 after the end"
        case "unsupported-encoding" where flags.contains("E"): "refused: another encoding"
        default: nil
        }
    }
}
