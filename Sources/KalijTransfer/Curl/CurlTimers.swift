import CCurl
import Glibc
import KalijTransport

/// What libcurl waits for: descriptors and a time, in the loop; and the open sockets.
///
/// An object of its own, because libcurl still calls back while it is being cleaned up.
final class CurlTimers {
    private let loop: any TransferLoop
    private var watches: [Int32: Watch] = [:]
    /// What libcurl waits for.
    private var interests: [Int32: Interest] = [:]
    private var timer: Timer?
    private var isTimeOver = false
    /// The sockets of connections under way.
    private(set) var sockets: Set<Int32> = []
    /// Called when something has happened: a descriptor and what it is ready for, or a time.
    var act: ((Int32, Int32) -> Void)?

    init(loop: any TransferLoop) { self.loop = loop }

    // MARK: Sockets

    func opened(_ socket: Int32) { sockets.insert(socket) }

    func closeSocket(_ socket: Int32) {
        sockets.remove(socket)
        unwatch(socket)
        close(socket)
    }

    // MARK: Waiting

    /// While held, nothing happens: no socket and no time is reported to libcurl.
    var isHeld = false {
        didSet {
            guard isHeld != oldValue else { return }
            for (socket, interest) in interests { watch(socket, for: interest) }
            if isTimeOver, !isHeld { wait(milliseconds: 0) }
        }
    }

    func wait(for socket: Int32, _ events: Int32) {
        let interest: Interest
        switch events {
        case CURL_POLL_IN: interest = .read
        case CURL_POLL_OUT: interest = .write
        case CURL_POLL_INOUT: interest = [.read, .write]
        case CURL_POLL_REMOVE: return unwatch(socket)
        default: interest = []
        }
        interests[socket] = interest
        watch(socket, for: interest)
    }

    private func unwatch(_ socket: Int32) {
        interests[socket] = nil
        watches.removeValue(forKey: socket)?.cancel()
    }

    private func watch(_ socket: Int32, for interest: Interest) {
        let interest = isHeld ? [] : interest
        if let watch = watches[socket] {
            watch.interest = interest
            return
        }
        do {
            watches[socket] = try loop.watch(socket, interest) { [weak self] in self?.ready(socket, $0) }
        } catch {
            // No memory for the watch: the transfer fails by this error.
            loop.enqueue { [weak self] in self?.act?(socket, CURL_CSELECT_ERR) }
        }
    }

    /// - Parameter milliseconds: -1 for no time.
    func wait(milliseconds: Int) {
        timer?.cancel()
        (timer, isTimeOver) = (nil, false)
        guard milliseconds >= 0 else { return }
        timer = loop.schedule(after: Double(milliseconds) / 1000) { [weak self] in
            self?.timeIsOver()
        }
    }

    private func timeIsOver() {
        timer = nil
        isTimeOver = isHeld
        if !isHeld { act?(CURL_SOCKET_TIMEOUT, 0) }
    }

    private func ready(_ socket: Int32, _ readiness: Readiness) {
        var events: Int32 = 0
        // After a hang-up there may be a response to read, which libcurl would not read after an error.
        if !readiness.isDisjoint(with: [.readable, .hangup]) { events |= CURL_CSELECT_IN }
        if !readiness.isDisjoint(with: [.writable, .hangup]) { events |= CURL_CSELECT_OUT }
        act?(socket, events)
    }

    func end() {
        act = nil
        timer?.cancel()
        for watch in watches.values { watch.cancel() }
        (watches, interests) = ([:], [:])
    }
}
