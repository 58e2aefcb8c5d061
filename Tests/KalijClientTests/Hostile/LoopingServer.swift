import KalijXML

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A server that takes everything at once and answers as a test says, without a pause of its own.
final class LoopingServer {
    let harness: StepHarness
    /// How many requests came, by the names of their handlers; other stanzas by their own.
    private(set) var count: [String: Int] = [:]
    private(set) var bytes = 0
    /// The stanzas in answer to a stanza of the client's, and to the handler's name if it is a request.
    private let answer: (Element, String?) -> [String]

    /// More than any pace lets through: the test has failed by then.
    private static let most = 3000

    init(_ harness: StepHarness, _ answer: @escaping (Element, String?) -> [String]) {
        (self.harness, self.answer) = (harness, answer)
    }

    var total: Int { count.values.reduce(0, +) }

    /// Plays so many minutes. The clock stands still while there is something to answer.
    func play(minutes: Int64) throws {
        let end = harness.clock.now + minutes * 60_000
        while total < Self.most {
            if try takeAll() { continue }
            let next = try [harness.steps.nextTimer(), harness.steps.nextDeadline()].compactMap { $0 }.min()
            guard let next, next < end else { break }
            harness.clock.move(by: max(1, next - harness.clock.now))
            while try harness.steps.due() != nil {}
            while try harness.steps.expire(.all, until: harness.clock.now) != nil {}
        }
        if harness.clock.now < end { harness.clock.move(by: end - harness.clock.now) }
    }

    /// Takes what waits in the queue, and answers.
    private func takeAll() throws -> Bool {
        let entries = try harness.write()
        try harness.acknowledgeAll()
        for entry in entries {
            let stanza = try Element.parse(StepHarness.inClient(String(decoding: entry.stanza, as: UTF8.self)))
            bytes += entry.stanza.count
            let name = try entry.request.flatMap {
                try harness.text("SELECT name FROM request WHERE id = '\($0)'")
            }
            count[name ?? stanza.name, default: 0] += 1
            for reply in answer(stanza, name) { try harness.receive(reply) }
        }
        return !entries.isEmpty
    }

    static func result(of request: Element, _ content: String = "") -> String {
        "<iq type='result' id='\(request["id"] ?? "")'\(from(request))>\(content)</iq>"
    }

    static func error(of request: Element, _ condition: String, type: String = "cancel") -> String {
        """
        <iq type='error' id='\(request["id"] ?? "")'\(from(request))><error type='\(type)'>\
        <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
        """
    }

    private static func from(_ request: Element) -> String { request["to"].map { " from='\($0)'" } ?? "" }
}
