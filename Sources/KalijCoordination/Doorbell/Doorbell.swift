import Glibc

/// Signals a process to read the database, without polling and without a lost signal. The process is the driver, or a receiver of
/// letters at another address of the ``Mailbox``.
///
/// A writer connects to a Unix socket *before* its commit; the listener reads the database when the connection closes. The
/// connection closes after the writer's commit, and also when the writer dies right after the commit. A writer that waits for an
/// answer closes only its own direction; the end of the other direction is the answer. A frozen writer closes nothing: so a
/// listener also reads some time after a connection was made.
public enum Doorbell {
    /// The listening end: a socket.
    public final class Listener: SignalListener {
        /// Readable when a writer connects; for an event loop.
        public let descriptor: Int32
        private let directory: Int32

        /// Listens in `directory`, replacing any earlier listener.
        ///
        /// Only the holder of the directory's fence may listen as the driver.
        public init(directory path: String, at address: Address = .driver) throws(DoorbellError) {
            directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard directory >= 0 else { throw DoorbellError("opening \(path)") }
            unlinkat(directory, address.socketName, 0)
            descriptor = Doorbell.socket()
            // The file of the socket gets its mode from the descriptor, less the umask. The umask belongs to the whole
            // process and stays untouched: so the file is never open to others. Afterwards the owner gets the full
            // right.
            guard descriptor >= 0, fchmod(descriptor, 0o600) == 0,
                Doorbell.with(directory, address, { bind(descriptor, $0, $1) }) == 0,
                fchmodat(directory, address.socketName, 0o600, 0) == 0, listen(descriptor, 64) == 0
            else {
                let error = DoorbellError("listening in \(path)")
                close(directory)
                if descriptor >= 0 { close(descriptor) }
                throw error
            }
        }

        // The socket's file stays: the socket refuses connections now, and the file may already be the next driver's.
        deinit {
            close(descriptor)
            close(directory)
        }

        /// The next writer's connection, readable when the writer closes it; nil if none is pending. The caller closes the connection.
        public func accept() -> Int32? {
            let connection = Doorbell.accept(descriptor)
            guard connection >= 0 else { return nil }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            _ = fcntl(connection, F_SETFL, O_NONBLOCK)
            return connection
        }
    }

    /// A writer's end: signals when the object is freed, or when the process dies.
    public final class Connection: DoorbellConnection {
        private let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }

        /// Signals, and stays connected for the answer: to be called after the commit.
        public func ring() { shutdown(descriptor, Int32(SHUT_WR)) }

        /// Waits until the listener hangs up, or is dead.
        /// - Returns: false if the listener has not hung up within `seconds`.
        @discardableResult
        public func awaitHangUp(within seconds: Double) -> Bool {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&request, 1, Int32(seconds * 1000)) == 1  // fits: the program's own waits are seconds
        }
    }

    /// The receiving end of a process that waits for the driver's work. The driver signals whenever an awaited event may have happened.
    public final class Subscription {
        private let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }

        /// The result of a wait.
        public enum Heard: Sendable {
            /// Something may have happened since the last wait: read the database.
            case something
            /// The driver has released the fence, or is dead.
            case end
            /// No signal in this time.
            case nothing
        }

        /// Waits for at most `seconds`. The first call returns as soon as the driver listens: the driver signals all
        /// later events.
        public func wait(seconds: Double) -> Heard {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = Int32(min(max(0, seconds * 1000), 3_600_000).rounded(.up))  // fits: an hour at most
            guard poll(&request, 1, milliseconds) > 0 else { return .nothing }
            var bytes: UInt64 = 0
            let count = read(descriptor, &bytes, MemoryLayout<UInt64>.size)
            if count > 0 { return .something }
            return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
        }
    }

    /// Subscribes to the signals of the driver of `directory`; nil if there is no driver.
    public static func subscription(directory path: String) -> Subscription? {
        subscribed(path, tell).map(Subscription.init)
    }

    /// Subscribes to the changes that the driver of `directory` reports; nil if there is no driver.
    public static func changes(directory path: String) -> ChangeSubscription? {
        subscribed(path, tellChanges).map(ChangeSubscription.init)
    }

    private static func subscribed(_ path: String, _ wish: UInt8) -> Int32? {
        guard let descriptor = connected(path, .driver) else { return nil }
        var byte = wish
        guard send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Connects to the process that listens at `address` in `directory`; nil if there is none.
    public static func bell(directory path: String, at address: Address = .driver) -> Connection? {
        connected(path, address).map(Connection.init)
    }

    private static func connected(_ path: String, _ address: Address) -> Int32? {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return nil }
        defer { close(directory) }
        let descriptor = socket()
        guard descriptor >= 0 else { return nil }
        guard with(directory, address, { connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// The first byte from a process that subscribes to signals.
    public static let tell: UInt8 = 2

    /// The first byte from a process that subscribes to changes.
    public static let tellChanges: UInt8 = 3
    /// A later byte from such a process: the user requests a connection now.
    public static let connectNow: UInt8 = 4

    /// Signals at the driver's end of the connection.
    public static func tell(_ connection: Int32) {
        var byte = tell
        // The connection does not block; a full connection already holds a signal.
        _ = send(connection, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Writes at the driver's end of a connection, without waiting.
    /// - Returns: how many of the bytes were taken.
    public static func write(_ bytes: ArraySlice<UInt8>, to connection: Int32) -> Int {
        max(0, bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) })
    }

    private static func accept(_ listener: Int32) -> Int32 {
        Glibc.accept(listener, nil, nil)
    }

    private static func socket() -> Int32 {
        Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    /// Calls `body` with the socket's address, by way of the directory's descriptor: a path may be longer than the 107
    /// bytes of an address.
    private static func with(
        _ directory: Int32, _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        // The path is ASCII, at most 45 bytes, and the name starts zeroed, so the terminating zero stays.
        withUnsafeMutableBytes(of: &name.sun_path) {
            $0.copyBytes(from: "/proc/self/fd/\(directory)/\(address.socketName)".utf8)
        }
        return withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}

/// Why the driver cannot be signalled.
public struct DoorbellError: Error, CustomStringConvertible, Sendable {
    public let description: String
    init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
}
