import Foundation

/// A promised figure, and its bound.
struct Figure {
    var name: String
    var value: Double
    var unit = ""
    var bound: Double
    /// Whether the bound is the least value, instead of the largest.
    var isLeast = false

    var isKept: Bool { isLeast ? value >= bound : value <= bound }

    /// All figures as a table; the reader compares with the bounds.
    static func table(_ figures: [Figure]) -> String {
        let width = figures.map(\.name.count).max() ?? 0
        return figures.map { figure in
            let name = figure.name.padding(toLength: width, withPad: " ", startingAt: 0)
            let value = (text(figure.value) + figure.unit).leftPadded(12)
            let bound = ((figure.isLeast ? "≥ " : "≤ ") + text(figure.bound) + figure.unit).leftPadded(14)
            return "\(name)\(value)\(bound)   \(figure.isKept ? "kept" : "MISSED")"
        }.joined(separator: "\n")
    }

    private static func text(_ value: Double) -> String {
        value < 100 && value != value.rounded() ? String(format: "%.2f", value) : String(Int(value.rounded()))
    }
}

extension String {
    fileprivate func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

extension [Double] {
    /// The middle value; rounds differ, because a machine does other work, too.
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func childSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}

/// User and system time of a running process (proc(5), stat).
func processorSeconds(_ id: Int32) -> Double {
    let text = (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)) ?? ""
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
}

func residentMegabytes() -> Double {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return Double(pages.flatMap { Int($0[1]) } ?? 0) * 4096 / 1e6
}
