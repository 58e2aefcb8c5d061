import CCurl
import KalijTransport

/// libcurl for a single transfer: a paused transfer is paused by calling its libcurl no more.
///
/// libcurl must not be called from within its own callbacks, and these call the transport's callers, which may call anything. So
/// everything that needs libcurl waits until libcurl has returned.
final class CurlMulti {
    let curl: CurlLibrary
    let waits: CurlTimers
    private let handle: UnsafeMutableRawPointer
    private var transfer: CurlTransfer?
    /// The transfer has ended, and still has its handle.
    private var isSettled = false
    private var isInside = false

    /// - Throws: ``TransferFailure``: `libraryMissing`, `system`.
    init(loop: any TransferLoop) throws(TransferFailure) {
        curl = try CurlLibrary.load()
        waits = CurlTimers(loop: loop)
        guard let handle = curl.functions.multi_init() else { throw TransferFailure(.system, "out of memory") }
        self.handle = handle
        // lives: a property, released after multi_cleanup in deinit
        let user = Unmanaged.passUnretained(waits).toOpaque()
        guard kalij_curl_set_events(curl.table, handle, CurlCallbacks.socket, CurlCallbacks.timer, user) == CURLM_OK
        else { throw TransferFailure(.system, "libcurl takes no callbacks") }
        waits.act = { [weak self] socket, events in self?.act(socket, events) }
    }

    deinit {
        _ = kalij_curl_set_events(curl.table, handle, nil, nil, nil)
        waits.end()
        _ = curl.functions.multi_cleanup(handle)
    }

    func add(_ transfer: CurlTransfer, _ easy: UnsafeMutableRawPointer) {
        self.transfer = transfer
        call {
            guard curl.functions.multi_add_handle(handle, easy) != CURLM_OK else { return }
            transfer.exchange.fail(TransferFailure(.system, "libcurl takes no further transfer"))
        }
    }

    /// The transfer has an end, or was cancelled: gives its handle up as soon as libcurl has returned.
    func settle() {
        isSettled = true
        if !isInside { tidy() }
    }

    /// Calls libcurl.
    func call(_ body: () -> Void) {
        isInside = true
        body()
        tidy()
    }

    private func act(_ socket: Int32, _ events: Int32) {
        var running: Int32 = 0
        call { _ = curl.functions.multi_socket_action(handle, socket, events, &running) }
    }

    /// Reads the result from libcurl, removes the easy handle, and reports the end.
    private func tidy() {
        isInside = true
        defer { isInside = false }
        collect()
        guard isSettled, let transfer else { return }
        self.transfer = nil
        if let easy = transfer.detachHandle() { _ = curl.functions.multi_remove_handle(handle, easy) }
        transfer.reportEnd()
    }

    private func collect() {
        var left: Int32 = 0
        while let message = curl.functions.multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            transfer?.curlEnded(message.pointee.data.result)
        }
    }
}
