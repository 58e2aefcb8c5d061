import Glibc
import KalijText

/// How to start a program.
public struct Launch: Sendable {
    /// The source or target of a standard stream.
    public enum Stream: Sendable {
        /// `/dev/null`.
        case null
        /// A file; bytes are added at its end.
        case file(String)
        /// A descriptor of this process, shared.
        case descriptor(Int32)
    }

    /// Absolute path of the program.
    public var executable: String
    /// The arguments without the program's name.
    public var arguments: [String] = []
    /// The whole environment.
    public var environment: [String: String] = [:]
    /// The working directory; nil for this process's directory.
    public var directory: String?
    public var input = Stream.null
    public var output = Stream.null
    public var errors = Stream.null

    /// A launch of a program with an environment of nothing but the search paths and preloaded libraries.
    public init(executable: String) {
        self.executable = executable
        environment["PATH"] = "/usr/bin:/bin"
        // A preloaded library that slows the disk down is for all programs (Scripts/tests-under-load).
        for name in ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"] {
            if let value = EnvironmentVariable.value(name) { environment[name] = value }
        }
    }

    /// Starts the program as the leader of its own process group, with default signals.
    /// - Returns: the process's id, still to be waited for.
    /// - Throws: ``LaboratoryError`` with the system's reason.
    func spawn() throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        add(input, as: 0, flags: O_RDONLY, to: &actions)
        add(output, as: 1, flags: O_WRONLY | O_CREAT | O_APPEND, to: &actions)
        add(errors, as: 2, flags: O_WRONLY | O_CREAT | O_APPEND, to: &actions)
        // An inherited socket of Foundation's Process keeps that process from noticing its own program's end.
        _ = closeFrom?(&actions, 3)

        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))  // fits: constants of a few bits

        var pid: pid_t = 0
        let variables = environment.map { "\($0.key)=\($0.value)" }
        var command = [executable] + arguments
        // POSIX has no call to change the directory of a child; env(1) does so and becomes the program.
        if let directory { command = [try Tool.env.path(), "--chdir=\(directory)"] + command }
        let failure = withCStrings(command) { argv in
            withCStrings(variables) { envp in posix_spawn(&pid, command[0], &actions, &attributes, argv, envp) }
        }
        guard failure == 0 else {
            throw LaboratoryError("cannot start \(executable): \(String(cString: strerror(failure)))")
        }
        return pid
    }

    private func add(
        _ stream: Stream, as number: Int32, flags: Int32, to actions: inout posix_spawn_file_actions_t
    ) {
        switch stream {
        case .null: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        case .file(let path): posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
    }
}

/// Lends a NULL-terminated array of C strings.
private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    // Copies made by strdup live until the body is done, then each is freed once.
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
}

/// glibc's call to close all further descriptors in the child, which Swift's module of glibc leaves out.
private let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
    // traps: never; the type is that of spawn.h, glibc 2.34 and later.
    unsafeBitCast(
        $0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
}
