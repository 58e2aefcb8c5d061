import Glibc
import KalijText

/// The process in numbers, with the names that Prometheus' own clients give them.
struct ProcessFigures {
    /// Since 1970, in seconds. Evaluated at the first access, so the server accesses it at its start.
    static let start = Double(time(nil))

    static func add(to text: inout MetricsText) {
        text.single("process_start_time_seconds", "gauge", "When the process began, since 1970.", start)
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            text.single(
                "process_cpu_seconds_total", "counter", "Processor time.",
                seconds(usage.ru_utime) + seconds(usage.ru_stime))
        }
        if let pages = residentPages() {
            text.single(
                "process_resident_memory_bytes", "gauge", "Memory in use.",
                // fits: a small number of the system's own
                pages * Int64(sysconf(Int32(_SC_PAGESIZE))))
        }
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static func residentPages() -> Int64? {
        guard let bytes = try? File.read("/proc/self/statm", key: "") else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).words(at: " ")
        return words.count > 1 ? Int64(words[1]) : nil
    }
}
