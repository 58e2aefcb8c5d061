import Glibc
import Synchronization

/// A temporary directory and the processes of an experiment; all of them are removed when the experiment ends, in whatever way.
public final class Laboratory: Sendable {
    /// The directory for all files of the experiment.
    public let directory: String
    private let guardian: CleanupProcess
    private let closed = Mutex(false)

    /// Makes the directory and starts the guardian.
    /// - Throws: ``LaboratoryError`` if the system refuses.
    public init() throws {
        signal(SIGPIPE, SIG_IGN)  // a peer that has died is an error to report, not a reason to die too
        let temporary = try TemporaryDirectory()
        directory = temporary.path
        do {
            guardian = try CleanupProcess(directory: temporary.path)
        } catch {
            temporary.remove()
            throw error
        }
    }

    deinit {
        closed.withLock { closed in
            if !closed { CleanupProcess.finish(pipe: guardian.pipe, pid: guardian.pid) }
        }
    }

    /// Kills the running processes and removes the directory; returns when both are done. Later calls do nothing.
    /// - Parameter keep: leaves the directory in place.
    public func close(keep: Bool = false) {
        closed.withLock { closed in
            guard !closed else { return }
            closed = true
            if keep { try? guardian.keepDirectory() }
            CleanupProcess.finish(pipe: guardian.pipe, pid: guardian.pid)
        }
    }

    /// A file or folder of this laboratory.
    public func path(_ name: String) -> String {
        "\(directory)/\(name)"
    }

    /// A launch in this laboratory: the process works in the laboratory's directory and ends with the laboratory.
    public func launch(_ executable: String, _ arguments: [String]) -> Launch {
        var launch = Launch(executable: executable)
        launch.arguments = arguments
        launch.directory = directory
        launch.environment[guardian.mark.name] = guardian.mark.value
        launch.environment["HOME"] = directory
        launch.environment["LANG"] = "C.UTF-8"
        return launch
    }

    /// Runs a program to its end.
    /// - Parameters:
    ///   - seconds: the time limit, if the program may take longer than what hangs; the program is killed afterwards.
    ///   - environment: variables in addition.
    /// - Returns: the program's standard output.
    /// - Throws: ``LaboratoryError`` with the standard error if the program fails or takes too long.
    @discardableResult
    public func run(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], seconds: Double? = nil
    ) async throws -> String {
        let files = path("run-\(Self.serial.wrappingAdd(1, ordering: .relaxed).newValue)")
        defer {
            unlink(files + ".out")
            unlink(files + ".err")
        }
        var launch = launch(executable, arguments)
        launch.environment.merge(environment) { $1 }
        launch.output = .file(files + ".out")
        launch.errors = .file(files + ".err")
        let process = try Subprocess(launch)
        let limit = max(seconds ?? 0, hungAfter)
        let ending = await process.wait(seconds: limit)
        guard ending == .exited(0) else {
            if ending == nil { await process.stop(seconds: 1) }
            let what = ending.map { "ended with \($0)" } ?? "was still running after \(limit) s"
            let said = readText(of: files + ".err") + readText(of: files + ".out")
            throw LaboratoryError("\(process.name) \(what): \(said.suffix(1000))")
        }
        return readText(of: files + ".out")
    }

    private static let serial = Atomic<Int>(0)
}

/// The values for the handler of SIGINT and SIGTERM; atomics, because the handler may run at any instruction.
private let interruptedPipe = Atomic<Int32>(-1)
private let interruptedGuardian = Atomic<Int32>(0)

extension Laboratory {
    /// From now on Ctrl-C and SIGTERM end the process with status 130 once this laboratory is cleaned up.
    public func cleanUpWhenInterrupted() {
        interruptedGuardian.store(guardian.pid, ordering: .sequentiallyConsistent)
        interruptedPipe.store(guardian.pipe, ordering: .sequentiallyConsistent)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in
                let pipe = interruptedPipe.exchange(-1, ordering: .sequentiallyConsistent)
                if pipe >= 0 {
                    CleanupProcess.finish(pipe: pipe, pid: interruptedGuardian.load(ordering: .sequentiallyConsistent))
                }
                // A constant text: a handler of signals may do no more.
                let words: StaticString =
                    "\ninterrupted; everything that was started has ended, and its files are removed\n"
                _ = write(2, words.utf8Start, words.utf8CodeUnitCount)
                _exit(130)
            }
        }
    }
}
