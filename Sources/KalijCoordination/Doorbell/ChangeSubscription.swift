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

    /// The driver's first lines, and the end of this subscription. Waits for `seconds` at most: a stalled driver does not answer.
    public func first(within seconds: Double) -> [UInt8] {
        // The driver writes its first lines before it reads the end of the connection, and then closes its own end.
        shutdown(descriptor, Int32(SHUT_WR))
        let end = Self.now + seconds
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = min(max(0, (end - Self.now) * 1000), 3_600_000)
            let ready = poll(&request, 1, Int32(left.rounded(.up)))  // fits: an hour at most
            guard ready > 0 || (ready < 0 && errno == EINTR) else { return bytes }
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { bytes += buffer[..<count] }
            guard count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)) else { return bytes }
        }
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Ends the current wait, and all later ones.
    public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Requests that the driver connects all accounts that wait for their next attempt.
    public func connectNow() {
        var byte = Doorbell.connectNow
        _ = send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL))
    }
}
