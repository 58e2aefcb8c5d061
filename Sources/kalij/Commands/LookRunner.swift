import CLinux
import Glibc

/// Starts a program for pushes: one process at a time, and one more for all pushes that arrive during its run.
struct LookRunner {
    private let command: (String?) -> [String]
    private var waiting: Set<String?> = []
    private var process: (pid: pid_t, descriptor: Int32, command: String?)?
    private var failures = 0
    /// The steady time of the next attempt after a failure, in milliseconds.
    private var retryAt: Int64 = 0

    /// After a run that was killed, or that has left work, in milliseconds.
    private static let pauses: [Int64] = [1_000, 10_000]

    /// - Parameter command: the arguments of the program for a registration's command.
    init(_ command: @escaping (String?) -> [String]) { self.command = command }

    /// Whether a process runs, or is due.
    var isBusy: Bool { process != nil || !waiting.isEmpty }
    /// Readable when the process has ended; nil if none runs.
    var descriptor: Int32? { process?.descriptor }
    /// The steady time of the next start, in milliseconds; nil if nothing is due.
    var next: Int64? { waiting.isEmpty || process != nil ? nil : retryAt }

    /// Requests a run of the registration's command.
    mutating func request(_ command: String?) {
        waiting.insert(command)
        retryAt = 0
    }

    /// Notes the end of a process, and starts the next one.
    /// - Parameter now: the steady time in milliseconds.
    mutating func advance(_ now: Int64) {
        if let process { conclude(process, now) }
        guard process == nil, now >= retryAt, let next = waiting.popFirst() else { return }
        var pid: pid_t = 0
        let words = command(next)
        let status = Self.spawn(words, &pid)
        guard status == 0 else {
            Output.error("\(words[0]): \(String(cString: strerror(status)))")
            return fail(next, now)
        }
        process = (pid, pidfd_open(pid, 0), next)
    }

    private mutating func conclude(_ ended: (pid: pid_t, descriptor: Int32, command: String?), _ now: Int64) {
        var status: Int32 = 0
        let result = waitpid(ended.pid, &status, WNOHANG)
        guard result == ended.pid || result < 0 else { return }
        if ended.descriptor >= 0 { close(ended.descriptor) }
        process = nil
        let isUnfinished = status & 0x7F != 0 || (status >> 8) & 0xFF == ExitStatus.temporaryFailure.rawValue
        if result == ended.pid, isUnfinished { fail(ended.command, now) } else { failures = 0 }
    }

    private mutating func fail(_ command: String?, _ now: Int64) {
        guard failures < Self.pauses.count else {
            failures = 0
            return
        }
        retryAt = now + Self.pauses[failures]
        failures += 1
        waiting.insert(command)
    }

    private static func spawn(_ words: [String], _ pid: inout pid_t) -> Int32 {
        var arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        // A shell's programs expect the default effect of these signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        return posix_spawn(&pid, words[0], nil, &attributes, &arguments, environ)
    }
}
