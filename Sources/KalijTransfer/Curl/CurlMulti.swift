import CCurl
import KalijTransport

/// libcurl's transfers of a loop.
///
/// libcurl must not be called from within its own callbacks, and these call our callers, who do as they like. So
/// everything that needs libcurl waits until libcurl has returned.
final class CurlMulti {
    let curl: CurlLibrary
    let waits: CurlWaits
    private let handle: UnsafeMutableRawPointer
    private var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    /// Transfers that have ended, and still have their handles.
    private var settled: [CurlTransfer] = []
    private(set) var isInside = false
    private var isTidying = false

    /// - Throws: ``TransferFailure``: `libraryMissing`, `system`.
    init(loop: any TransferLoop) throws(TransferFailure) {
        curl = try CurlLibrary.load()
        waits = CurlWaits(loop: loop)
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
        transfers[easy] = transfer
        call {
            guard curl.functions.multi_add_handle(handle, easy) != CURLM_OK else { return }
            transfer.exchange.fail(TransferFailure(.system, "libcurl takes no further transfer"))
        }
    }

    /// The transfer has an end, or was cancelled: gives its handle up as soon as libcurl has returned.
    func settle(_ transfer: CurlTransfer) {
        settled.append(transfer)
        if !isInside { tidy() }
    }

    func cancelAll() {
        for transfer in Array(transfers.values) { transfer.cancel() }
    }

    /// Calls libcurl.
    func call(_ body: () -> Void) {
        isInside = true
        body()
        isInside = false
        tidy()
    }

    private func act(_ socket: Int32, _ events: Int32) {
        var running: Int32 = 0
        call { _ = curl.functions.multi_socket_action(handle, socket, events, &running) }
    }

    /// Takes the ends from libcurl, gives handles up and tells the callers, who may settle further transfers.
    private func tidy() {
        guard !isTidying else { return }
        isTidying = true
        defer { isTidying = false }
        while true {
            collect()
            guard !settled.isEmpty else { return }
            let transfer = settled.removeFirst()
            drop(transfer)
            transfer.tellEnd()
        }
    }

    private func collect() {
        var left: Int32 = 0
        while let message = curl.functions.multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let result = message.pointee.data.result
            transfers[easy]?.curlEnded(result)
        }
    }

    private func drop(_ transfer: CurlTransfer) {
        guard let easy = transfer.takeHandle() else { return }
        isInside = true
        _ = curl.functions.multi_remove_handle(handle, easy)
        isInside = false
        transfers[easy] = nil
    }
}
