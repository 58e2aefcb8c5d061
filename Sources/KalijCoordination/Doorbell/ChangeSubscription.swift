import Glibc

/// The receiving end of a process that shows stored data: the driver sends, in lines, what is shown differently.
///
/// All functions may be called from any thread.
public final class ChangeSubscription: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    /// Waits for bytes of lines; nil when the driver has released the fence or is dead, or after ``end()``.
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

    /// Ends the current wait, and all later ones.
    public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Requests that the driver connects all accounts that wait for their next attempt.
    public func connectNow() {
        var byte = Doorbell.connectNow
        _ = send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL))
    }
}
