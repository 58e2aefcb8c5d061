import CNghttp2

/// The client's side of an HTTP/2 connection (RFC 9113) without socket and clock: bytes in, bytes out.
///
/// nghttp2 does the framing, the header compression and the flow control; this type decides the outcome of each
/// request.
final class HTTP2Session: HTTPSession {
    typealias Event = HTTPSessionEvent

    /// The part of a response received so far.
    struct Exchange {
        var status = 0
        var fields: [HTTPField] = []
        var fieldBytes = 0
        var body: [UInt8] = []
        var upload: [UInt8]
        var uploaded = 0
        var isTooLarge = false
        var isComplete = false
    }

    let limits: HTTPLimits
    // Owned: freed in deinit. nghttp2 calls back only from within the session's own calls.
    private var session: OpaquePointer?
    var exchanges: [Int32: Exchange] = [:]
    var events: [Event] = []
    private(set) var hasSettings = false
    private var hasGoneAway = false
    /// Bytes of bodies that have not left yet.
    private var unsent = 0

    /// - Parameter firstStream: an odd number.
    init(limits: HTTPLimits, firstStream: Int32 = 1) {
        self.limits = limits
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return }
        HTTP2Callbacks.install(on: callbacks)
        // lives: the session is deleted in this object's deinit
        nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
        nghttp2_session_callbacks_del(callbacks)
        nghttp2_session_set_next_stream_id(session, firstStream)
        var settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(clamping: limits.fieldBytes)),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count)
        // 64 KiB, the standard, hold back a thousand small answers on a slow link.
        nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: limits.windowBytes))
    }

    deinit { nghttp2_session_del(session) }

    /// Whether the peer takes no new streams, or there are none left: stream numbers have 31 bits, and are used once in
    /// the life of a connection (RFC 9113, 5.1.1).
    var isGoingAway: Bool { hasGoneAway || Int32(exactly: nghttp2_session_get_next_stream_id(session)) == nil }

    /// How many more requests the peer takes at present: none before its SETTINGS, none after its GOAWAY, and none while
    /// the connection's window has no room for a body: another connection may have room (RFC 9113, 6.9.1).
    var capacity: Int {
        guard hasSettings, !isGoingAway, Int(nghttp2_session_get_remote_window_size(session)) > unsent else {
            return 0
        }
        let allowed = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        return max(0, min(Int(allowed), limits.streams) - exchanges.count)
    }

    var openStreams: Int { exchanges.count }

    /// Whether the connection has nothing left to do.
    var isOver: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
            || isGoingAway && exchanges.isEmpty
    }

    /// Puts a request on a new stream.
    /// - Returns: the stream; nil if nghttp2 refuses the request.
    func submit(_ request: HTTPRequest, authority: String) -> Int32? {
        let stream = HeaderBlock.withBlock(of: request, authority: authority) { fields -> Int32 in
            guard !request.body.isEmpty else {
                return nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, nil, nil)
            }
            var provider = nghttp2_data_provider(
                source: nghttp2_data_source(), read_callback: HTTP2Callbacks.readBody)
            return nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, &provider, nil)
        }
        guard stream > 0 else { return nil }
        exchanges[stream] = Exchange(upload: request.body)
        unsent += request.body.count
        return stream
    }

    /// Gives a request up: the stream is reset, and the rest of the response is ignored. There is no event.
    func cancel(_ stream: Int32) {
        guard forget(stream) != nil else { return }
        reset(stream, NGHTTP2_CANCEL)
    }

    let canPing = true
    func ping() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// Sends GOAWAY; for a connection that is no longer needed.
    func terminate() { nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue) }

    /// The events since the last call, in order.
    func drainEvents() -> [Event] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Takes bytes of the peer.
    /// - Throws: `HTTPFailure` (`connectionLost`) if the bytes are not HTTP/2: the connection is unusable afterwards.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure) {
        // The lent bytes are read within the call.
        let result = nghttp2_session_mem_recv(
            session, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        guard result >= 0 else {
            // fits: one of nghttp2's error codes
            throw HTTPFailure(.connectionLost, "HTTP/2: " + String(cString: nghttp2_strerror(Int32(result))))
        }
    }

    func finish() {}

    /// The bytes to send now. A stream reset by this side ends here, with an event.
    func drainOutput() throws(HTTPFailure) -> [UInt8] {
        var output: [UInt8] = []
        while true {
            var start: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &start)
            guard count >= 0 else {
                // fits: one of nghttp2's error codes
                throw HTTPFailure(.connectionLost, "HTTP/2: " + String(cString: nghttp2_strerror(Int32(count))))
            }
            guard count > 0, let start else { return output }
            // Valid until the next call to mem_send; copied.
            output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
    }

    func reset(_ stream: Int32, _ code: nghttp2_error_code) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    // MARK: nghttp2's callbacks

    func settingsReceived() {
        hasSettings = true
        events.append(.settings)
    }

    func goAwayReceived(lastStream: Int32, code: UInt32, reason: String) {
        hasGoneAway = true
        events.append(.goAway(lastStream: lastStream, code: code, reason: reason))
    }

    func streamClosed(_ stream: Int32, code: UInt32) {
        guard let exchange = forget(stream) else { return }
        events.append(.ended(stream: stream, Self.outcome(exchange, code: code)))
    }

    private func forget(_ stream: Int32) -> Exchange? {
        guard let exchange = exchanges.removeValue(forKey: stream) else { return nil }
        unsent -= exchange.upload.count - exchange.uploaded
        return exchange
    }

    func uploaded(_ count: Int) { unsent -= count }

    func windowGrown() { events.append(.window) }

    private static func outcome(_ exchange: Exchange, code: UInt32) -> HTTPOutcome {
        if exchange.isTooLarge { return .failure(HTTPFailure(.tooLarge, "the response is too large")) }
        // A server may answer before reading the whole request, and then reset the stream (RFC 9113, 8.1).
        if exchange.isComplete {
            return .success(HTTPResponse(status: exchange.status, fields: exchange.fields, body: exchange.body))
        }
        if code == NGHTTP2_REFUSED_STREAM.rawValue {
            return .failure(HTTPFailure(.unprocessed, "the server has not taken the request"))
        }
        let name = String(cString: nghttp2_http2_strerror(code))
        return .failure(HTTPFailure(.reset, "the server has reset the stream: \(name)"))
    }
}
