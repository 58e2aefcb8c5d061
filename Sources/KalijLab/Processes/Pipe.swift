import Glibc

/// Two connected descriptors that cannot leak into a program started at the same moment by another thread.
///
/// A pair of sockets, because `pipe2` is not in POSIX and `pipe` cannot set close-on-exec in the same call: a stray copy of the
/// writing end would keep the reader waiting after the end.
func makePipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
        throw LaboratoryError("cannot make a pair of sockets: \(lastSystemError())")
    }
    return (ends[0], ends[1])
}
