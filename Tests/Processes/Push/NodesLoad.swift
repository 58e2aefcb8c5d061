import Foundation
import KalijLab
import KalijNodesLab
import KalijPushLab

/// A steady load on nodes: publishes to live devices, now and then a device that dies.
final class NodesLoad {
    let nodes: [LabNode]
    /// Publishes a second at all nodes together.
    let rate: Double
    /// Every so many publishes a device dies; 0 for never.
    var dying = 0
    private var number = 0
    private(set) var dead: [(token: String, domain: String)] = []

    init(_ nodes: [LabNode], rate: Double) {
        self.nodes = nodes
        self.rate = rate
    }

    /// The answers of a run.
    struct Result {
        var seconds: [Double] = []
        var types: [String: Int] = [:]
        var unanswered = 0

        mutating func add(_ answer: LabComponentServer.Answer) {
            seconds.append(answer.seconds)
            types[answer.type, default: 0] += 1
        }

        static func += (left: inout Result, right: Result) {
            left.seconds += right.seconds
            left.types.merge(right.types, uniquingKeysWith: +)
            left.unanswered += right.unanswered
        }

        func share(_ share: Double) -> Double {
            let sorted = seconds.sorted()
            return sorted.isEmpty ? 0 : 1000 * sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
        }
        var waits: Int { types["wait"] ?? 0 }
        var text: String {
            String(
                format: "%d publishes, p50 %.1f ms, p99 %.1f ms, slowest %.1f ms, %@, %d unanswered", seconds.count,
                share(0.5), share(0.99), share(1),
                types.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    .joined(separator: " "), unanswered)
        }
    }

    static func token(_ name: String, _ number: Int) -> String {
        let hex = name.utf8.map { String($0, radix: 16) }.joined()
        return String((hex + String(repeating: "0", count: 64)).prefix(48)) + String(format: "%016d", number)
    }

    /// Publishes for so many seconds, and waits for the answers.
    func run(seconds: Double) -> Result {
        let began = Date()
        for count in 0..<Int(seconds * rate) {
            let rest = began.addingTimeInterval(Double(count) / rate).timeIntervalSinceNow
            // Until the next publish is due.
            if rest > 0 { usleep(UInt32(rest * 1e6)) }
            publish()
        }
        return answers()
    }

    private func publish() {
        number += 1
        let node = nodes[number % nodes.count]
        if dying > 0, number % dying == 0 {
            // A few devices each: many dead devices of one domain would block the domain.
            let gone = (token: Self.token("dead", number), domain: "gone\(dead.count / 5).example")
            dead.append(gone)
            node.bury(gone.token)
            node.server.publish(gone.token, domain: gone.domain)
        } else {
            node.server.publish(Self.token(node.name, number / nodes.count % 300))
        }
    }

    private func answers() -> Result {
        var result = Result()
        for node in nodes {
            node.server.wait { node.server.unanswered == 0 }
            result.unanswered += node.server.unanswered
            for answer in node.server.takeAnswers() { result.add(answer) }
            node.server.forgetAnswers()
        }
        return result
    }
}
