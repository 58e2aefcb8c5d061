import Glibc
import Synchronization

/// A running program, the leader of its own process group.
public final class Subprocess: Sendable {
    /// How a program ended.
    public enum Ending: Equatable, Sendable, CustomStringConvertible {
        /// The program ended by itself with this exit status.
        case exited(Int32)
        /// This signal killed the program.
        case killed(Int32)

        public var description: String {
            switch self {
            case .exited(let status): "exit status \(status)"
            case .killed(let signal): "signal \(signal)"
            }
        }
    }

    private struct State {
        var ending: Ending?
        var input: Int32?
    }

    /// The process's id, and its group's.
    public let pid: pid_t
    /// The name of the program, for messages.
    public let name: String
    private let state: Mutex<State>

    /// Starts a program.
    /// - Parameter writable: whether ``write(line:)`` is needed; a pipe then replaces the launch's standard input.
    /// - Throws: ``LaboratoryError`` if the program cannot be started.
    public init(_ launch: Launch, writable: Bool = false) throws {
        name = launch.executable.split(separator: "/").last.map(String.init) ?? launch.executable
        guard writable else {
            pid = try launch.spawn()
            state = Mutex(State())
            return
        }
        let ends = try makePipe()
        defer { close(ends.reading) }
        var launch = launch
        launch.input = .descriptor(ends.reading)
        do {
            pid = try launch.spawn()
        } catch {
            close(ends.writing)
            throw error
        }
        state = Mutex(State(input: ends.writing))
    }

    deinit {
        closeInput()
        // A program that has ended, and that nobody has waited for, stays in the system's table. Swift Testing looks for the end of
        // its own processes there, finds such a program again and again, and never gets to the next.
        _ = ending()
    }

    /// Writes a line to the program's standard input.
    /// - Throws: ``LaboratoryError`` if there is no pipe or no reader.
    public func write(line: String) throws { try write(line + "\n") }

    /// Writes to the program's standard input.
    /// - Throws: ``LaboratoryError`` if there is no pipe or no reader.
    public func write(_ text: String) throws {
        try state.withLock { state in
            guard let input = state.input else { throw LaboratoryError("\(name) has no standard input to write to") }
            try writeAll(Array(text.utf8), to: input, name: name)
        }
    }

    /// Closes the program's standard input: the program reads the end of its input.
    public func closeInput() {
        state.withLock { state in
            if let input = state.input { close(input) }
            state.input = nil
        }
    }

    /// Sends a signal to the whole process group, unless the program has been waited for already.
    public func signal(_ signal: Int32) {
        state.withLock { if $0.ending == nil { kill(-pid, signal) } }
    }

    /// How the program ended; nil for a running program.
    public func ending() -> Ending? {
        state.withLock { state in
            if let ending = state.ending { return ending }
            var status: Int32 = 0
            guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
            let signal = status & 0x7f
            let ending = signal == 0 ? Ending.exited((status >> 8) & 0xff) : .killed(signal)
            state.ending = ending
            return ending
        }
    }

    /// Waits for the end.
    /// - Returns: the ending, or nil if the program still runs after `seconds`.
    public func wait(seconds: Double) async -> Ending? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            if let ending = ending() { return ending }
            guard ContinuousClock.now < deadline else { return nil }
            if Task.isCancelled {
                usleep(1000)  // a cancelled task does not sleep, but a process that was killed is still waited for
            } else {
                try? await sleep(for: .milliseconds(1))
            }
        }
    }

    /// Waits for the end on the caller's thread, for callers that are not asynchronous.
    /// - Returns: the ending, or nil if the program still runs after `seconds`.
    public func blockingWait(seconds: Double) -> Ending? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            if let ending = ending() { return ending }
            guard ContinuousClock.now < deadline else { return nil }
            usleep(1000)
        }
    }

    /// Sends SIGTERM to the program, and kills it after `seconds`. A program that was stopped is continued first, so that it
    /// receives the signal.
    @discardableResult
    public func stop(seconds: Double) async -> Ending? {
        signal(SIGTERM)
        signal(SIGCONT)
        if let ending = await wait(seconds: seconds) { return ending }
        signal(SIGKILL)
        return await wait(seconds: hungAfter)
    }
}
