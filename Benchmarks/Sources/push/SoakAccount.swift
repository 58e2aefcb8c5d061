import Foundation
import KalijPushLab

/// The events of a soak.
struct SoakAccount {
    /// Due publishes, sent or not.
    var due = 0
    var publishes = 0
    var reloads = 0
    var lostWithCuts = 0
    private(set) var longest = 0.0
    private var kinds: [String: Int] = [:]
    /// Kilobytes, by second.
    private var memory: [Int: Int] = [:]

    mutating func take(_ answers: [LabComponentServer.Answer]) {
        for answer in answers {
            kinds[answer.condition.isEmpty ? answer.type : answer.type + "/" + answer.condition, default: 0] += 1
            longest = max(longest, answer.seconds)
        }
    }

    var summary: String { kinds.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ") }

    mutating func sample(_ second: Int, _ process: Int32) {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        memory[second] = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    }

    /// The median of the minute before a moment, because single samples vary with the faults of that second.
    func resident(around second: Double) -> Int {
        let near = memory.filter { second - 60 < Double($0.key) && Double($0.key) <= second }.map(\.value).sorted()
        return near.isEmpty ? 0 : near[near.count / 2]
    }

    func line(minute: Int, delivered: Int, _ connections: Int) -> String {
        "minute \(minute): resident \(resident(around: Double(minute * 60))) kB, \(publishes) publishes, "
            + "\(delivered) pushes, \(connections) connections, longest wait \(String(format: "%.1f", longest)) s"
    }
}
