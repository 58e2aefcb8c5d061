import Glibc
import Synchronization

/// Three consecutive TCP ports that are free on 127.0.0.1 and stay reserved until this process ends.
///
/// A free port can be taken before a server listens there, and while a server is being restarted. So each laboratory
/// takes a lock on the ports first: a byte of one file for each three, with a record lock, which ends with its process.
/// The ports lie below the system's range for outgoing connections.
func threeFreePorts() throws -> Int {
    for _ in 0..<500 {
        let first = 20_000 + 3 * Int.random(in: 0..<4000)
        if try Reserved.take(first), (first..<first + 3).allSatisfy(isFree) { return first }
    }
    throw LaboratoryError("found no three free ports on 127.0.0.1 between 20000 and 32000")
}

/// A TCP port that is free on 127.0.0.1 and stays reserved until this process ends.
public func freePort() throws -> Int { try threeFreePorts() }

/// The ports taken by this process. A process's own record locks never refuse the process itself, hence the set.
private enum Reserved {
    private static let state = Mutex<(file: Int32, taken: Set<Int>)>((-1, []))
    private static let path = "/tmp/kalij-ports-\(getuid())"  // a single path for all laboratories, with any TMPDIR

    /// - Returns: false if another process, or an earlier call, has the port.
    static func take(_ port: Int) throws -> Bool {
        try state.withLock { state in
            if state.file < 0 {
                state.file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
                guard state.file >= 0 else { throw LaboratoryError("\(path): \(String(cString: strerror(errno)))") }
            }
            guard state.taken.insert(port).inserted else { return false }
            var lock = flock()
            (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
            (lock.l_start, lock.l_len) = (port, 1)
            if fcntl(state.file, F_SETLK, &lock) == 0 { return true }
            state.taken.remove(port)
            return false
        }
    }
}

private func isFree(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian  // fits: only reserved ports are tested
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) { pointer in
        // The C interface requires the generic form of a sockaddr_in, together with its size.
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
    }
}
