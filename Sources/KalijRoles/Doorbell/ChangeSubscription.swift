import Glibc

/// The end of a process that shows what is stored: the driver says in lines what is shown differently.
///
/// All functions may be called from any thread.
public final class ChangeSubscription: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    /// Waits for bytes of lines; nil when the driver has let go or is dead, or after ``end()``.
    public func next() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while true {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, -1) >= 0 || errno == EINTR else { return nil }
            let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { return Array(bytes[..<count]) }
            guard count < 0, errno == EAGAIN || errno == EINTR else { return nil }
        }
    }

    /// Ends the wait, and all later ones.
    public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The driver connects all accounts that wait for their next attempt.
    public func connectNow() {
        var byte = Doorbell.connectNow
        _ = send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL))
    }
}
