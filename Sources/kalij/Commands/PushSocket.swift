import Glibc

/// Acts as the push system: starts a process for each connection to a socket.
struct PushSocket {
    private let path: String
    private let listener: Int32
    private let command: [String]

    /// Milliseconds before another attempt to accept a push or to start a run.
    private static let pause: Int32 = 1000

    /// Listens at `path`, replacing the socket of an ended process of this user.
    /// - Throws: `Failure` if the path is anything else, or another process listens there.
    init(_ path: String, _ command: [String]) throws {
        self.path = path
        self.command = command
        let address = try Self.address(path)
        try Self.makeRoom(address, path)
        let listener = try Self.socket(path)
        // No other user may start runs, regardless of the umask.
        let mask = umask(0o177)
        let isBound = Self.with(address) { bind(listener, $0, $1) } == 0
        let error = errno
        umask(mask)
        guard isBound, listen(listener, 64) == 0 else {
            let reason = String(cString: strerror(isBound ? errno : error))
            close(listener)
            throw Failure(.badInput, "\(path): \(reason)")
        }
        self.listener = listener
    }

    /// Removes the socket that an ended process left at `path`, and nothing else.
    private static func makeRoom(_ address: sockaddr_un, _ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw Failure(.badInput, "\(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw Failure(.badInput, "\(path) exists and is no socket; it is left alone")
        }
        guard status.st_uid == geteuid() else {
            throw Failure(.badInput, "\(path) is another user's socket; it is left alone")
        }
        let caller = try socket(path)
        defer { close(caller) }
        guard with(address, { connect(caller, $0, $1) }) != 0 else {
            throw Failure(.temporaryFailure, "\(path): another process listens there")
        }
        switch errno {
        case ECONNREFUSED: unlink(path)
        // The other process has just ended.
        case ENOENT: break
        case EAGAIN: throw Failure(.temporaryFailure, "\(path): another process listens there")
        default: throw Failure(.badInput, "\(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Starts runs, for ever. A push is served as soon as a process can be started.
    func serve() -> Never {
        // The runs are not waited for.
        signal(SIGCHLD, SIG_IGN)
        var isPushed = false
        while true {
            if isCalled(within: isPushed ? Self.pause : -1) { isPushed = acceptPush() || isPushed }
            guard isPushed else { continue }
            let status = start()
            isPushed = status != 0
            if isPushed {
                Output.error("starting a run: \(String(cString: strerror(status))); next attempt in a second")
            }
        }
    }

    /// Whether a client connects within the given number of milliseconds.
    private func isCalled(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }

    /// Accepts a push; false if there is none.
    private func acceptPush() -> Bool {
        let push = accept(listener, nil, nil)
        guard push < 0 else {
            close(push)
            return true
        }
        guard ![EINTR, ECONNABORTED, EAGAIN].contains(errno) else { return false }
        Output.error("taking a push: \(String(cString: strerror(errno))); next attempt in a second")
        // The push remains in the socket's backlog.
        usleep(UInt32(Self.pause) * 1000)  // fits: a second
        return false
    }

    /// - Returns: 0, or why no process could be started.
    private func start() -> Int32 {
        var words = command.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var pid: pid_t = 0
        return posix_spawn(&pid, "/proc/self/exe", nil, nil, &words, environ)
    }

    // MARK: Addresses

    private static func address(_ path: String) throws -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(.badInput, "\(path): a socket's path has at most 107 bytes")
        }
        // The address starts zeroed and is longer than the path, so the terminating zero remains.
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    private static func socket(_ path: String) throws -> Int32 {
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(.temporaryFailure, "\(path): \(String(cString: strerror(errno)))") }
        return descriptor
    }

    private static func with(_ address: sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        // The copy lives as long as the call.
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
